// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// htp-trace: extracts the modules and their ops from a saved PyTorch model as
// trace.json. The only program of HTP that links LibTorch.

#include "Export.h"
#include "TorchScript.h"

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/WithColor.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Support/thread.h"

#include <c10/util/Exception.h>

using namespace htp::trace;
namespace cl = llvm::cl;

static cl::OptionCategory category("htp-trace options");
static cl::opt<std::string> input(cl::Positional, cl::Required,
                                  cl::desc("<model.pt or model.pt2>"),
                                  cl::cat(category));
static cl::opt<std::string> output("o", cl::init("-"),
                                   cl::desc("where to write trace.json"),
                                   cl::value_desc("file"), cl::cat(category));
static cl::opt<bool>
    noHash("no-hash",
           cl::desc("leave out the fingerprints and sketches of parameters"),
           cl::cat(category));
static cl::opt<bool>
    noSketch("no-sketch",
             cl::desc("leave out the sketches of parameters, which are needed "
                      "to recognise them once they are rounded or quantized"),
             cl::cat(category));

static cl::opt<uint64_t>
    maxUnpacked("max-unpacked", cl::init(Archive::kMaxUnpacked >> 20),
                cl::desc("the limit on the total size of compressed records "
                         "(PyTorch writes none)"),
                cl::value_desc("MB"), cl::cat(category));

/// Detects the kind of archive by its records.
static Trace readTrace(const std::string &path) {
  Archive archive(path, maxUnpacked << 20);
  archive.sketches = !noSketch;
  if (isExportArchive(archive))
    return traceExport(archive, !noHash);
  if (archive.has("constants.pkl") && archive.has("data.pkl"))
    return traceTorchScript(archive, !noHash);
  if (archive.has("data.pkl"))
    throw ArchiveError(savedMessage);
  throw ArchiveError("expected a TorchScript (.pt) or torch.export (.pt2) "
                     "archive, found a zip file with neither data.pkl nor "
                     "models/*.json");
}

static int run() {
  auto fail = [](llvm::StringRef message) {
    llvm::WithColor::error(llvm::errs(), "htp-trace")
        << "'" << input << "': " << message << "\n";
    return 1;
  };
  Trace trace;
  try {
    trace = readTrace(input);
  } catch (const c10::Error &error) {
    return fail(shortMessage(error.what_without_backtrace()));
  } catch (const std::exception &error) {
    return fail(shortMessage(error.what()));
  }
  // Write through a temporary file, so that readers never see a partial trace.
  auto write = [&](llvm::raw_ostream &os) {
    writeTrace(os, trace);
    return llvm::Error::success();
  };
  if (llvm::Error error = llvm::writeToOutput(output, write)) {
    llvm::WithColor::error(llvm::errs(), "htp-trace")
        << "'" << output << "': " << llvm::toString(std::move(error)) << "\n";
    return 1;
  }
  return 0;
}

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(
      argc, argv,
      "extracts the modules of a saved PyTorch model and their ops\n");
  // LibTorch recurses over nested modules: a model of a thousand levels needs a
  // larger stack than the main thread has.
  int result = 1;
  llvm::thread worker(std::optional<unsigned>(1u << 30),
                      [&] { result = run(); });
  worker.join();
  return result;
}
