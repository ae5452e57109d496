// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resolves, checks and maps external data files, confined to the model's
// folder.

#include "HTP/Support/ExternalData.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace htp;

static Error refuse(StringRef location, const Twine &why) {
  return createStringError("external data '" + location + "' " + why);
}

Expected<ExternalRange>
ExternalRange::parse(StringRef location, StringRef offset, StringRef length) {
  ExternalRange range;
  range.location = location.str();
  if (location.empty())
    return createStringError("external data has no location");
  if (!offset.empty() && offset.getAsInteger(10, range.offset))
    return refuse(location,
                  "has offset '" + offset + "', expected a number of bytes");
  uint64_t bytes;
  if (!length.empty()) {
    if (length.getAsInteger(10, bytes))
      return refuse(location,
                    "has length '" + length + "', expected a number of bytes");
    range.length = bytes;
  }
  return range;
}

ExternalData::ExternalData(StringRef folder, StringRef model)
    : directory(folder.empty() ? "." : folder.str()) {
  SmallString<128> real;
  if (!sys::fs::real_path(directory, real))
    realDirectory = real.str().str();
  if (!model.empty() && !sys::fs::real_path(model, real))
    modelDirectory = sys::path::parent_path(real).str();
}

/// Whether a file is in a folder or below it. Both must be real paths.
static bool liesIn(StringRef file, StringRef folder) {
  return !folder.empty() && file.consume_front(folder) &&
         (folder == "/" || file.starts_with("/"));
}

/// Whether `..` leads out of the folder that the path is relative to.
static bool climbsOut(StringRef path) {
  int depth = 0;
  for (auto part = sys::path::begin(path), end = sys::path::end(path);
       part != end; ++part) {
    if (*part == "..")
      --depth;
    else if (*part != ".")
      ++depth;
    if (depth < 0)
      return true;
  }
  return false;
}

Expected<ExternalData::File *> ExternalData::find(StringRef location) {
  auto known = files.find(location);
  if (known != files.end())
    return &known->second;
  if (sys::path::is_absolute(location))
    return refuse(location, "is an absolute path, expected one relative to the "
                            "model's folder");
  if (location.contains('\0') || climbsOut(location))
    return refuse(location, "leaves the model's folder");
  SmallString<128> path(directory), real;
  sys::path::append(path, location);
  if (std::error_code error = sys::fs::real_path(path, real))
    return refuse(location,
                  "cannot be opened at '" + path + "': " + error.message());
  // Symbolic links are fine as long as their target is inside.
  if (!liesIn(real, realDirectory) &&
      sys::path::parent_path(real) != modelDirectory)
    return refuse(location,
                  "leaves the model's folder through a link to '" + real + "'");
  sys::fs::file_status status;
  if (std::error_code error = sys::fs::status(real, status))
    return refuse(location, "cannot be opened: " + error.message());
  if (!sys::fs::is_regular_file(status))
    return refuse(location, "is not a regular file");
  File &file = files[location];
  file.realPath = real.str().str();
  file.size = status.getSize();
  return &file;
}

/// The length of the range in a file of this size, or an error.
static Expected<uint64_t> fit(const ExternalRange &range, uint64_t fileSize,
                              std::optional<uint64_t> size) {
  if (size && range.length && *size != *range.length)
    return refuse(range.location, "has length " + Twine(*range.length) +
                                      ", the tensor's type needs " +
                                      Twine(*size) + " bytes");
  uint64_t rest = range.offset <= fileSize ? fileSize - range.offset : 0;
  uint64_t needed = range.length ? *range.length : size.value_or(rest);
  if (range.offset > fileSize || needed > rest)
    return refuse(range.location, "is too short: it has " + Twine(fileSize) +
                                      " bytes, the tensor needs " +
                                      Twine(needed) + " at offset " +
                                      Twine(range.offset));
  return needed;
}

Expected<std::string> ExternalData::resolve(StringRef location) {
  std::lock_guard lock(mutex);
  Expected<File *> file = find(location);
  if (!file)
    return file.takeError();
  return (*file)->realPath;
}

Error ExternalData::check(const ExternalRange &range,
                          std::optional<uint64_t> size) {
  std::lock_guard lock(mutex);
  Expected<File *> file = find(range.location);
  if (!file)
    return file.takeError();
  return fit(range, (*file)->size, size).takeError();
}

Expected<ArrayRef<char>> ExternalData::bytes(const ExternalRange &range,
                                             std::optional<uint64_t> size) {
  std::lock_guard lock(mutex);
  Expected<File *> file = find(range.location);
  if (!file)
    return file.takeError();
  if (!(*file)->mapping) {
    auto mapping = FileMapping::open((*file)->realPath);
    if (!mapping)
      return refuse(range.location,
                    "cannot be opened: " + toString(mapping.takeError()));
    (*file)->mapping = std::move(*mapping);
  }
  // The file may have changed since it was checked, so check the mapping again.
  StringRef contents = (*file)->mapping->bytes();
  Expected<uint64_t> length = fit(range, contents.size(), size);
  if (!length)
    return length.takeError();
  return ArrayRef<char>(contents.data() + range.offset, *length);
}
