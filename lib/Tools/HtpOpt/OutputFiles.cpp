// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Temporary files, renames, clones and hard links behind OutputFiles.

#include "HTP/Tools/HtpOpt/OutputFiles.h"

#include "llvm/Support/Errno.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"

#include <cassert>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace htp;

static Error cannotWrite(StringRef path, const Twine &why) {
  return createStringError("cannot write '" + path + "': " + why);
}

/// The canonical path of a file. Links are resolved, as renaming onto a link
/// would replace the link. If the file does not exist yet, its folder's path is
/// resolved.
static std::string canonicalPath(StringRef path) {
  SmallString<128> real;
  if (!sys::fs::real_path(path, real))
    return real.str().str();
  StringRef folder = sys::path::parent_path(path);
  if (sys::fs::real_path(folder.empty() ? "." : folder, real))
    return path.str();
  sys::path::append(real, sys::path::filename(path));
  return real.str().str();
}

/// Creates a temporary file next to `target`, locked while this process lives.
/// If another run removes it as a leftover before it is locked, tries again.
static Expected<sys::fs::TempFile> createLocked(StringRef target) {
  while (true) {
    auto temporary = sys::fs::TempFile::create(target + ".tmp-%%%%%%%%");
    if (!temporary)
      return temporary;
    struct stat status;
    bool isLocked =
        flock(temporary->FD, LOCK_EX | LOCK_NB) == 0 ||
        errno !=
            EWOULDBLOCK; // the file system has no locks, so no run removes it
    if (isLocked && fstat(temporary->FD, &status) == 0 && status.st_nlink > 0)
      return temporary;
    consumeError(temporary->discard());
  }
}

/// Removes temporary files of killed runs: those that nobody holds a lock on.
/// Links to data files are not locked, as others may want to lock the data;
/// these are only removed if they are older than a moment.
static void removeLeftovers(StringRef target) {
  constexpr auto kMoment = std::chrono::seconds(10);
  std::string prefix = (sys::path::filename(target) + ".tmp-").str();
  StringRef folder = sys::path::parent_path(target);
  std::error_code error;
  for (sys::fs::directory_iterator entry(folder.empty() ? "." : folder, error),
       end;
       !error && entry != end; entry.increment(error)) {
    sys::fs::file_status status;
    if (!sys::path::filename(entry->path()).starts_with(prefix) ||
        sys::fs::status(entry->path(), status) ||
        !sys::fs::is_regular_file(status) ||
        (status.getLinkCount() > 1 &&
         std::chrono::system_clock::now() - status.getLastModificationTime() <
             kMoment))
      continue;
    int fd = ::open(entry->path().c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0)
      continue;
    if (flock(fd, LOCK_EX | LOCK_NB) == 0)
      sys::fs::remove(entry->path());
    ::close(fd);
  }
}

/// Copies mode and owner of the file being replaced, as far as permitted.
static void takeOverOwner(int fd, StringRef target) {
  struct stat status;
  if (stat(target.str().c_str(), &status) != 0)
    return;
  // The owner first, as changing it clears some mode bits.
  if (fchown(fd, status.st_uid, status.st_gid) != 0)
    errno = 0;
  fchmod(fd, status.st_mode & 07777);
}

//===----------------------------------------------------------------------===//
// One file
//===----------------------------------------------------------------------===//

OutputFile::~OutputFile() {
  if (stream)
    stream->clear_error();
  stream.reset();
  if (temporary)
    consumeError(temporary->discard());
  if (!link.empty()) {
    sys::fs::remove(link);
    sys::DontRemoveFileOnSignal(link);
  }
}

int OutputFile::descriptor() {
  assert(stream && "the file was committed");
  stream->flush();
  return fd;
}

Error OutputFile::flush() {
  if (!stream)
    return Error::success();
  stream->flush();
  if (std::error_code error = stream->error()) {
    stream->clear_error();
    return cannotWrite(target, error.message());
  }
  return Error::success();
}

Error OutputFile::keep() {
  stream.reset();
  if (!link.empty()) {
    if (std::error_code error = sys::fs::rename(link, target))
      return cannotWrite(target, error.message());
    sys::DontRemoveFileOnSignal(link);
    link.clear();
  }
  if (!temporary)
    return Error::success();
  Error error = temporary->keep(target);
  temporary.reset();
  if (error)
    return cannotWrite(target, toString(std::move(error)));
  return Error::success();
}

//===----------------------------------------------------------------------===//
// All files
//===----------------------------------------------------------------------===//

bool OutputFiles::isTarget(StringRef path) const {
  return any_of(files, [&](const auto &file) {
    return file->target == path && path != "-";
  });
}

Expected<OutputFile *> OutputFiles::open(StringRef path) {
  auto file = std::unique_ptr<OutputFile>(new OutputFile);
  sys::fs::file_status status;
  bool exists = path != "-" && !sys::fs::status(path, status);
  if (exists && sys::fs::is_directory(status))
    return cannotWrite(path, "is a directory");
  if (path != "-" && !exists && sys::fs::is_symlink_file(path))
    return cannotWrite(path, "is a link to a file that does not exist");
  // A device or a pipe cannot be replaced by renaming.
  bool direct = path == "-" || (exists && !sys::fs::is_regular_file(status));
  file->target = direct ? path.str() : canonicalPath(path);
  if (isTarget(file->target))
    return cannotWrite(path, "it is the target of another output too");

  if (direct) {
    file->fd = STDOUT_FILENO;
    std::error_code error;
    if (path != "-")
      error = sys::fs::openFileForWrite(path, file->fd);
    if (error)
      return cannotWrite(path, error.message());
    file->stream =
        std::make_unique<raw_fd_ostream>(file->fd, /*shouldClose=*/true);
  } else {
    if (exists && sys::fs::access(file->target, sys::fs::AccessMode::Write))
      return cannotWrite(path, "permission denied");
    removeLeftovers(file->target);
    auto temporary = createLocked(file->target);
    if (!temporary)
      return cannotWrite(path, toString(temporary.takeError()));
    file->temporary = std::move(*temporary);
    file->fd = file->temporary->FD;
    if (exists)
      takeOverOwner(file->fd, file->target);
    file->stream =
        std::make_unique<raw_fd_ostream>(file->fd, /*shouldClose=*/false);
  }
  files.push_back(std::move(file));
  return files.back().get();
}

Error OutputFiles::refuse(StringRef path, const Twine &what) const {
  if (!isTarget(canonicalPath(path)))
    return Error::success();
  return cannotWrite(path, "it is " + what);
}

Error OutputFiles::commit() {
  for (auto &file : files)
    if (Error error = file->flush())
      return error;
  for (auto &file : files)
    if (Error error = file->keep())
      return error;
  files.clear();
  return Error::success();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

/// Copies the data of a file and keeps its holes; the kernel clones blocks if
/// the file system supports it. Also copies the modification time.
static bool copyContents(int source, int target) {
  struct stat status;
  if (fstat(source, &status) != 0 || ftruncate(target, status.st_size) != 0)
    return false;
  off_t start = 0;
  while ((start = lseek(source, start, SEEK_DATA)) >= 0) {
    off_t end = lseek(source, start, SEEK_HOLE);
    if (end < 0 || lseek(target, start, SEEK_SET) != start)
      return false;
    while (start < end) {
      ssize_t count =
          copy_file_range(source, &start, target, nullptr, end - start, 0);
      if (count < 0 && errno != EINTR) {
        // Different file systems: copy through memory.
        char buffer[1 << 16];
        count = pread(source, buffer,
                      std::min<off_t>(sizeof buffer, end - start), start);
        if (count <= 0 || ::write(target, buffer, count) != count)
          return false;
        start += count;
      } else if (count == 0) {
        return false; // the file was truncated meanwhile
      }
    }
  }
  if (errno != ENXIO) // ENXIO means no more data
    return false;
  timespec times[] = {status.st_atim, status.st_mtim};
  return futimens(target, times) == 0;
}

/// Whether two files have the same contents. Size and modification time are not
/// sufficient: files unpacked by one program often share both.
static bool sameContents(StringRef one, StringRef other) {
  struct stat first, second;
  if (stat(one.str().c_str(), &first) || stat(other.str().c_str(), &second) ||
      first.st_size != second.st_size)
    return false;
  if (first.st_dev == second.st_dev && first.st_ino == second.st_ino)
    return true;
  auto left = MemoryBuffer::getFile(one, false, false);
  auto right = MemoryBuffer::getFile(other, false, false);
  return left && right && (*left)->getBuffer() == (*right)->getBuffer();
}

/// Creates a hard link under a temporary name. It is not an error if the file
/// system does not support that.
Error OutputFiles::addLink(StringRef source, StringRef target, bool &linked) {
  SmallString<128> name;
  sys::fs::createUniquePath(target + ".tmp-%%%%%%%%", name,
                            /*MakeAbsolute=*/false);
  linked = ::link(source.str().c_str(), name.c_str()) == 0;
  if (!linked && (errno == EACCES || errno == ENOENT))
    return cannotWrite(target, sys::StrError());
  if (!linked)
    return Error::success();
  sys::RemoveFileOnSignal(name);
  auto file = std::unique_ptr<OutputFile>(new OutputFile);
  file->target = target.str();
  file->link = name.str().str();
  files.push_back(std::move(file));
  return Error::success();
}

Error OutputFiles::addCopy(StringRef source, StringRef target, bool hardLink) {
  std::string canonical = canonicalPath(target);
  if (copies.contains(canonical)) // several models share this data
    return copies.lookup(canonical) == canonicalPath(source)
               ? Error::success()
               : cannotWrite(target, "another data file goes there too");
  if (isTarget(canonical))
    return cannotWrite(target, "it is the target of another output, and the "
                               "model needs the data of '" +
                                   source + "' there");
  copies[canonical] = canonicalPath(source);
  if (sys::fs::exists(target)) {
    if (sameContents(source, target))
      return Error::success();
    return cannotWrite(target, "a different file exists, and the model needs "
                               "the data of '" +
                                   source + "' there");
  }
  if (StringRef folder = sys::path::parent_path(target); !folder.empty())
    if (std::error_code error = sys::fs::create_directories(folder))
      return cannotWrite(target, error.message());
  if (hardLink) {
    bool linked = false;
    Error error = addLink(source, target, linked);
    if (error || linked)
      return error;
  }
  auto file = open(target);
  if (!file)
    return file.takeError();
  int fd = ::open(source.str().c_str(), O_RDONLY | O_CLOEXEC);
  bool copied = fd >= 0 && copyContents(fd, (*file)->fd);
  std::string reason = sys::StrError();
  if (fd >= 0)
    ::close(fd);
  if (!copied)
    return cannotWrite(target, "copying '" + source + "': " + reason);
  return Error::success();
}
