// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HTP/Tools/HtpOpt/OutputFiles.h"

#include "llvm/Support/Errno.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace htp;

static Error cannotWrite(StringRef path, const Twine &why) {
  return createStringError("cannot write '" + path + "': " + why);
}

/// The file that a chain of symbolic links leads to: renaming onto the link
/// itself would replace the link.
static std::string followLinks(StringRef path) {
  SmallString<128> real;
  if (sys::fs::real_path(path, real))
    return path.str();
  return real.str().str();
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
  // A device, a pipe: nothing to rename onto.
  bool direct = path == "-" || (exists && !sys::fs::is_regular_file(status));
  file->target = direct ? path.str() : followLinks(path);
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
    auto temporary = sys::fs::TempFile::create(file->target + ".tmp-%%%%%%%%");
    if (!temporary)
      return cannotWrite(path, toString(temporary.takeError()));
    file->temporary = std::move(*temporary);
    file->fd = file->temporary->FD;
    file->stream =
        std::make_unique<raw_fd_ostream>(file->fd, /*shouldClose=*/false);
  }
  files.push_back(std::move(file));
  return files.back().get();
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

/// Copies the parts of a file that hold data and leaves its holes as holes; the
/// kernel clones blocks instead of copying them where the file system can.
/// The time of modification comes along: it tells an unchanged copy later.
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
        // Another file system: through memory, then.
        char buffer[1 << 16];
        count = pread(source, buffer,
                      std::min<off_t>(sizeof buffer, end - start), start);
        if (count <= 0 || ::write(target, buffer, count) != count)
          return false;
        start += count;
      } else if (count == 0) {
        return false; // The file shrank.
      }
    }
  }
  if (errno != ENXIO) // No more data: the normal end.
    return false;
  timespec times[] = {status.st_atim, status.st_mtim};
  return futimens(target, times) == 0;
}

/// Whether two files have the same contents. Equal size and time of
/// modification are enough, as for make and rsync: a data file can be larger
/// than memory.
static bool sameContents(StringRef one, StringRef other) {
  struct stat first, second;
  if (stat(one.str().c_str(), &first) || stat(other.str().c_str(), &second) ||
      first.st_size != second.st_size)
    return false;
  if (first.st_dev == second.st_dev && first.st_ino == second.st_ino)
    return true;
  if (first.st_mtim.tv_sec == second.st_mtim.tv_sec &&
      first.st_mtim.tv_nsec == second.st_mtim.tv_nsec)
    return true;
  auto left = MemoryBuffer::getFile(one, false, false);
  auto right = MemoryBuffer::getFile(other, false, false);
  return left && right && (*left)->getBuffer() == (*right)->getBuffer();
}

/// Links to a temporary name first, as everything here. A file system that
/// cannot is no error.
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
  if (isTarget(followLinks(target)) || isTarget(target))
    return Error::success(); // Several models with the same data.
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
