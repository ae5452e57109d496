// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Maps files, keeps a registry of mappings by address, and handles SIGBUS.

#include "HTP/Support/FileMapping.h"

#include "llvm/Support/Errno.h"
#include "llvm/Support/Signals.h"

#include <csignal>
#include <fcntl.h>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace htp;

namespace {

/// All mappings of the process, by the address of their first byte.
struct Registry {
  std::mutex mutex;
  std::map<const char *, const FileMapping *, std::less<>> mappings;
};

} // namespace

static Registry &registry() {
  // Never destroyed: a context that outlives `main` may still unmap its
  // resources.
  static Registry &instance = *new Registry;
  return instance;
}

static Error lastError() {
  return createStringError(std::error_code(errno, std::generic_category()),
                           sys::StrError());
}

Expected<std::unique_ptr<FileMapping>> FileMapping::open(StringRef path) {
  int fd = ::open(path.str().c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return lastError();
  struct stat status;
  if (fstat(fd, &status) != 0) {
    Error error = lastError();
    ::close(fd);
    return error;
  }
  if (!S_ISREG(status.st_mode)) {
    ::close(fd);
    return createStringError("not a regular file");
  }
  size_t size = status.st_size;
  void *address = nullptr;
  if (size != 0)
    address = mmap(nullptr, size, PROT_READ, MAP_PRIVATE, fd, 0);
  if (address == MAP_FAILED) {
    Error error = lastError();
    ::close(fd);
    return error;
  }
  return std::unique_ptr<FileMapping>(
      new FileMapping(fd, StringRef(static_cast<char *>(address), size)));
}

FileMapping::FileMapping(int fd, StringRef contents)
    : fd(fd), contents(contents) {
  std::lock_guard lock(registry().mutex);
  if (!contents.empty())
    registry().mappings.emplace(contents.begin(), this);
}

FileMapping::~FileMapping() {
  if (!contents.empty()) {
    std::lock_guard lock(registry().mutex);
    registry().mappings.erase(contents.begin());
    munmap(const_cast<char *>(contents.data()), contents.size());
  }
  ::close(fd);
}

std::optional<FileMapping::Origin> FileMapping::find(StringRef bytes) {
  std::lock_guard lock(registry().mutex);
  auto &mappings = registry().mappings;
  auto next = mappings.upper_bound(bytes.begin());
  if (next == mappings.begin())
    return std::nullopt;
  const FileMapping *mapping = std::prev(next)->second;
  if (bytes.end() > mapping->contents.end())
    return std::nullopt;
  return Origin{mapping->fd, static_cast<uint64_t>(bytes.begin() -
                                                   mapping->contents.begin())};
}

/// The SIGBUS handler: the file behind a mapping was truncated. Must be
/// async-signal-safe.
static void onMissingMemory(int) {
  static constexpr char kMessage[] =
      "error: a file became shorter while it was read; nothing was written\n";
  sys::RunInterruptHandlers();
  (void)!::write(STDERR_FILENO, kMessage, sizeof(kMessage) - 1);
  _exit(EXIT_FAILURE);
}

void htp::endWhereFilesShrink() {
  // Make LLVM install its own handlers first: it does so only once, and would
  // otherwise replace this one.
  sys::SetInterruptFunction(nullptr);
  struct sigaction action = {};
  action.sa_handler = onMissingMemory;
  sigaction(SIGBUS, &action, nullptr);
}
