// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HTP/Tools/HtpOpt/OutputFiles.h"

#include "llvm/Support/Path.h"

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

OutputFile::~OutputFile() {
  if (stream)
    stream->clear_error();
  stream.reset();
  if (temporary)
    consumeError(temporary->discard());
}

int OutputFile::descriptor() {
  stream->flush();
  return fd;
}

Error OutputFile::flush() {
  stream->flush();
  if (std::error_code error = stream->error()) {
    stream->clear_error();
    return cannotWrite(target, error.message());
  }
  return Error::success();
}

Error OutputFile::keep() {
  stream.reset();
  if (!temporary)
    return Error::success();
  Error error = temporary->keep(target);
  temporary.reset();
  if (error)
    return cannotWrite(target, toString(std::move(error)));
  return Error::success();
}

Expected<OutputFile *> OutputFiles::open(StringRef path) {
  auto file = std::unique_ptr<OutputFile>(new OutputFile);
  sys::fs::file_status status;
  bool exists = path != "-" && !sys::fs::status(path, status);
  bool direct = path == "-" || (exists && !sys::fs::is_regular_file(status) &&
                                !sys::fs::is_directory(status));
  file->target = direct ? path.str() : followLinks(path);
  if (exists && sys::fs::is_directory(status))
    return cannotWrite(path, "is a directory");
  if (any_of(files, [&](const auto &other) {
        return other->target == file->target && path != "-";
      }))
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
