// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loads traces from files, running htp-trace on PyTorch archives, and caches
// them.

#include "HTP/Trace/TraceProgram.h"

#include "HTP/Support/InputFile.h"

#include "llvm/Support/Errno.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"

#include <future>
#include <map>
#include <mutex>
#include <sys/mman.h>
#include <unistd.h>

using namespace llvm;

namespace htp {

static Error fileError(StringRef file, const Twine &message) {
  return createStringError("'" + file + "': " + message);
}

/// Finds htp-trace next to the running program or on PATH.
static ErrorOr<std::string> findTraceProgram() {
  static int anchor;
  std::string self = sys::fs::getMainExecutable(nullptr, &anchor);
  if (auto beside =
          sys::findProgramByName("htp-trace", {sys::path::parent_path(self)}))
    return beside;
  return sys::findProgramByName("htp-trace");
}

namespace {
/// An in-memory file for the output of a child process. Unlike a temporary
/// file, it needs no cleanup however this process ends.
class MemoryFile {
public:
  MemoryFile() : fd(memfd_create("htp-trace", /*flags=*/0)) {}
  ~MemoryFile() { ::close(fd); }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;

  bool isOpen() const { return fd >= 0; }
  /// The path for the child, which inherits the descriptor.
  std::string path() const { return "/proc/self/fd/" + std::to_string(fd); }
  ErrorOr<std::unique_ptr<MemoryBuffer>> read() const {
    return MemoryBuffer::getOpenFile(fd, "htp-trace", /*FileSize=*/-1);
  }

private:
  int fd;
};
} // namespace

/// Runs htp-trace on an archive and parses its output.
static Expected<Trace> traceArchive(StringRef archive) {
  ErrorOr<std::string> program = findTraceProgram();
  if (!program)
    return createStringError(
        "reading a PyTorch archive needs htp-trace, which is neither "
        "next to this program nor on PATH; run it elsewhere and "
        "pass its trace.json");
  MemoryFile output, messages;
  if (!output.isOpen() || !messages.isOpen())
    return createStringError(
        "cannot create a buffer for the output of htp-trace: " +
        sys::StrError());
  std::string problem, outputPath = output.path(), said = messages.path();
  int status = sys::ExecuteAndWait(
      *program, {*program, archive, "-o", "-"}, /*Env=*/std::nullopt,
      {std::nullopt, StringRef(outputPath), StringRef(said)},
      /*SecondsToWait=*/0, /*MemoryLimit=*/0, &problem);
  if (status != 0) {
    auto text = messages.read();
    if (text && !(*text)->getBuffer().trim().empty())
      problem = (*text)->getBuffer().trim().str();
    return createStringError("htp-trace failed: " + problem);
  }
  auto buffer = output.read();
  if (!buffer)
    return createStringError("htp-trace wrote nothing: " +
                             buffer.getError().message());
  return Trace::parse((*buffer)->getBuffer());
}

static Expected<Trace> readTrace(StringRef file) {
  auto buffer = openInput(file);
  if (!buffer)
    return fileError(file, toString(buffer.takeError()));
  StringRef content = (*buffer)->getBuffer();
  Expected<Trace> trace = content.starts_with("PK\x03\x04")
                              ? traceArchive(file)
                              : Trace::parse(content);
  if (!trace)
    return fileError(file, toString(trace.takeError()));
  return trace;
}

namespace {
/// The result of loading a file: a trace, or an error message.
struct Loaded {
  std::shared_ptr<const Trace> trace;
  std::string problem;
};

/// A cached file: its trace and the program made from it.
struct Entry {
  std::shared_future<Loaded> trace;
  std::shared_future<std::shared_ptr<const TraceProgram>> program;
};
} // namespace

static Loaded load(const std::string &file) {
  Expected<Trace> trace = readTrace(file);
  if (!trace)
    return {nullptr, toString(trace.takeError())};
  return {std::make_shared<const Trace>(std::move(*trace)), ""};
}

static Entry begin(StringRef file, std::launch when) {
  Entry entry;
  entry.trace = std::async(when, load, file.str()).share();
  entry.program =
      std::async(when, [trace = entry.trace] {
        const std::shared_ptr<const Trace> &loaded = trace.get().trace;
        return loaded ? std::make_shared<const TraceProgram>(*loaded) : nullptr;
      }).share();
  return entry;
}

/// The cache entry of `file`. On first use, loading starts in the background
/// (std::launch::async) or is deferred until the result is needed.
static Expected<Entry> find(StringRef file, std::launch when) {
  // The key includes size and time, so that a changed file is read again.
  sys::fs::file_status status;
  if (std::error_code code = sys::fs::status(file, status))
    return fileError(file, code.message());
  auto key = std::make_tuple(
      file.str(), status.getSize(),
      status.getLastModificationTime().time_since_epoch().count());

  // Never destroyed, as a thread may still use it while the program exits.
  static auto &mutex = *new std::mutex;
  static auto &cache = *new std::map<decltype(key), Entry>;
  std::lock_guard<std::mutex> lock(mutex);
  Entry &entry = cache[key];
  if (!entry.trace.valid())
    entry = begin(file, when);
  return entry;
}

TracePrefetch::TracePrefetch(StringRef file) {
  if (parallel::strategy.ThreadsRequested == 1)
    return;
  auto entry = find(file, std::launch::async);
  if (entry)
    wait = [program = entry->program] { program.wait(); };
  else // The error is reported by loadTrace.
    consumeError(entry.takeError());
}

TracePrefetch::~TracePrefetch() {
  if (wait)
    wait();
}

Expected<std::shared_ptr<const Trace>> loadTrace(StringRef file) {
  auto found = find(file, std::launch::deferred);
  if (!found)
    return found.takeError();
  const Loaded &loaded = found->trace.get();
  if (!loaded.trace)
    return createStringError(loaded.problem);
  return loaded.trace;
}

Expected<std::shared_ptr<const TraceProgram>> loadTraceProgram(StringRef file) {
  auto found = find(file, std::launch::deferred);
  if (!found)
    return found.takeError();
  if (std::shared_ptr<const TraceProgram> program = found->program.get())
    return program;
  return createStringError(found->trace.get().problem);
}

} // namespace htp
