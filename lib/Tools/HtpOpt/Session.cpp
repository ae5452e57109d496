// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a session: checks outputs, reads the model, runs passes. Write.cpp has
// the rest.

#include "HTP/Tools/HtpOpt/Session.h"

#include "Progress.h"

#include "HTP/Dialect/ONNX/IR/ExternalBytes.h"
#include "HTP/Support/InputFile.h"
#include "HTP/Support/Parallel.h"
#include "HTP/Target/ONNX/ExternalTensors.h"
#include "HTP/Target/ONNX/Import.h"
#include "HTP/Target/ONNX/ModelFile.h"
#include "HTP/Tools/HtpOpt/Diagnostics.h"
#include "HTP/Trace/Trace.h"
#include "HTP/Transforms/TraceReader.h"

#include "mlir/Debug/CLOptionsSetup.h"
#include "mlir/Dialect/IRDL/IR/IRDL.h"
#include "mlir/Dialect/IRDL/IRDLLoading.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Remark/RemarkStreamer.h"
#include "mlir/Tools/ParseUtilities.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Parallel.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

#include <deque>

using namespace llvm;
using namespace mlir;
using namespace htp;

Session::Session(SessionOptions options, const MlirOptMainConfig &config,
                 DialectRegistry &registry)
    : options(std::move(options)), config(config), registry(registry),
      data(std::make_shared<ExternalData>(
          sys::path::parent_path(this->options.input), this->options.input)) {}

static LogicalResult report(Error error) {
  reportError(toString(std::move(error)));
  return failure();
}

/// Opens outputs before anything else, so that a typo in a path does not cost
/// the user a whole run.
LogicalResult Session::openOutputs() {
  StringRef path = options.output;
  if (options.format == Format::IREE) {
    if (path.empty() || path == "-")
      return report(
          createStringError("--emit=iree writes a folder: -o FOLDER"));
    if (sys::fs::exists(path) && !sys::fs::is_directory(path))
      return report(createStringError("cannot write '" + path +
                                      "': is a file, expected a folder"));
    if (std::error_code error = sys::fs::create_directories(path))
      return report(
          createStringError("cannot write '" + path + "': " + error.message()));
  } else if (path.contains('%')) {
    StringRef folder = sys::path::parent_path(path);
    if (folder.contains('%'))
      return report(createStringError(
          "cannot write '" + path + "': '%' may stand in the file name only"));
    if (sys::fs::access(folder.empty() ? "." : folder,
                        sys::fs::AccessMode::Write))
      return report(createStringError("cannot write '" + path + "': '" +
                                      folder + "' is not a writable folder"));
  } else if (!path.empty()) {
    auto file = outputs.open(path);
    if (!file)
      return report(file.takeError());
    mainOutput = *file;
  }
  for (const SessionOptions::Side &side : options.sides) {
    auto file = outputs.open(side.path);
    if (!file)
      return report(file.takeError());
    sideOutputs.push_back(*file);
  }
  return success();
}

/// Rejects outputs that would overwrite inputs of this run. Only -o may replace
/// the model itself, to tag a file in place.
Error Session::checkOutputs(ArrayRef<std::string> traces) {
  for (StringRef trace : traces)
    if (Error error = outputs.refuse(trace, "the trace"))
      return error;
  for (const SessionOptions::Side &side : options.sides)
    if (side.path != "-" && sys::fs::equivalent(side.path, options.input))
      return createStringError("cannot write '" + side.path +
                               "': it is the input");
  return Error::success();
}

/// The same for external data files, which are known only after reading the
/// model.
Error Session::checkDataFiles() {
  auto locations = checkExternalData(modelFile->model(), *data);
  if (!locations)
    return createStringError(options.input + ": " +
                             toString(locations.takeError()));
  for (const std::string &location : *locations) {
    Expected<std::string> path = data->resolve(location);
    if (!path)
      return path.takeError();
    if (Error error = outputs.refuse(*path, "a data file of the model"))
      return error;
  }
  return Error::success();
}

/// Opens the model: ONNX is just mapped, MLIR text needs a null byte at the end
/// for its lexer.
static Expected<std::unique_ptr<MemoryBuffer>> openModel(StringRef path,
                                                         Format &format) {
  auto cannotRead = [&](const Twine &why) {
    return createStringError("cannot read '" + path + "': " + why);
  };
  auto buffer = openInput(path, /*terminated=*/false);
  if (!buffer)
    return cannotRead(toString(buffer.takeError()));
  if ((*buffer)->getBufferSize() == 0)
    return cannotRead("the file is empty, expected an ONNX model or MLIR");
  format = formatOfContent(**buffer);
  if (format == Format::ONNX || !sys::fs::is_regular_file(path))
    return buffer;
  auto terminated = openInput(path);
  if (!terminated)
    return cannotRead(toString(terminated.takeError()));
  return terminated;
}

LogicalResult Session::run() {
  auto buffer = openModel(options.input, inputFormat);
  if (!buffer)
    return report(buffer.takeError());
  if (failed(openOutputs()))
    return failure();

  MLIRContext &context = this->context.emplace(registry);
  context.allowUnregisteredDialects(config.shouldAllowUnregisteredDialects());
  tracing::InstallDebugHandler debugHandler(context, config.getDebugConfig());
  sourceMgr = std::make_shared<SourceMgr>();
  LogicalResult result = failure();
  if (inputFormat == Format::ONNX) {
    // Do not print the op with errors: it is identified by name, and its
    // generic form would bury the message.
    if (!cl::getRegisteredOptions()["mlir-print-op-on-diagnostic"]
             ->getNumOccurrences())
      context.printOpOnDiagnostic(false);
    input = std::move(*buffer);
    ModelDiagnosticHandler handler(&context, options.input);
    DiagnosticFilter filter(&context, config);
    result = process(context);
  } else {
    sourceMgr->AddNewSourceBuffer(std::move(*buffer), SMLoc());
    SourceMgrDiagnosticHandler handler(*sourceMgr, &context);
    DiagnosticFilter filter(&context, config);
    result = process(context);
  }
  if (failed(result))
    return failure();
  if (Error error = outputs.commit())
    return report(std::move(error));
  return success();
}

/// Defines the dialects of an IRDL file, as `mlir-opt --irdl-file` does.
static LogicalResult loadIRDL(StringRef path, MLIRContext &context) {
  context.getOrLoadDialect<irdl::IRDLDialect>();
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(path, &context);
  return module ? irdl::loadDialects(*module) : failure();
}

/// Turns on the remarks that the `--remark…` options ask for.
static LogicalResult enableRemarks(MLIRContext &context,
                                   const MlirOptMainConfig &config) {
  remark::RemarkCategories categories{
      config.getRemarksAllFilter(), config.getRemarksPassedFilter(),
      config.getRemarksMissedFilter(), config.getRemarksAnalyseFilter(),
      config.getRemarksFailedFilter()};
  std::unique_ptr<remark::detail::RemarkEmittingPolicyBase> policy;
  if (config.getRemarkPolicy() == RemarkPolicy::REMARK_POLICY_FINAL)
    policy = std::make_unique<remark::RemarkEmittingPolicyFinal>();
  else
    policy = std::make_unique<remark::RemarkEmittingPolicyAll>();
  if (config.getRemarkFormat() == RemarkFormat::REMARK_FORMAT_STDOUT)
    return remark::enableOptimizationRemarks(context, nullptr,
                                             std::move(policy), categories,
                                             /*printAsEmitRemarks=*/true);
  bool yaml = config.getRemarkFormat() == RemarkFormat::REMARK_FORMAT_YAML;
  std::string file = config.getRemarksOutputFile();
  if (file.empty())
    file = yaml ? "mlir-remarks.yaml" : "mlir-remarks.bitstream";
  return remark::enableOptimizationRemarksWithLLVMStreamer(
      context, file, yaml ? remarks::Format::YAML : remarks::Format::Bitstream,
      std::move(policy), categories);
}

/// MLIR's threads take one function each, so a model with a single graph gains
/// nothing, while multithreading makes every attribute more expensive (locks
/// and per-thread tables).
static bool hasWorkForThreads(Operation *op) {
  auto module = dyn_cast_or_null<ModuleOp>(op);
  return !module ||
         llvm::hasNItemsOrMore(module.getOps<FunctionOpInterface>(), 2);
}

/// The trace files that the passes will read.
static SmallVector<std::string> traceFiles(std::optional<PassManager> &passes) {
  SmallVector<std::string> files;
  if (passes)
    for (Pass &pass : passes->getPasses())
      if (auto *reader = dynamic_cast<TraceReader *>(&pass))
        if (StringRef file = reader->traceFile(); !file.empty())
          files.push_back(file.str());
  return files;
}

LogicalResult Session::process(MLIRContext &context) {
  DefaultTimingManager timingManager;
  applyDefaultTimingManagerCLOptions(timingManager);
  TimingScope timing = timingManager.getRootScope();

  if (!config.getIrdlFile().empty() &&
      failed(loadIRDL(config.getIrdlFile(), context)))
    return failure();
  const bool threaded = context.isMultithreadingEnabled();
  if (!threaded)
    llvm::parallel::strategy = llvm::hardware_concurrency(1);
  // For ONNX it is known what op the passes run on, so build them before
  // reading: errors in options are then reported early, and traces can be read
  // concurrently.
  std::optional<PassManager> passes;
  if (inputFormat == Format::ONNX &&
      failed(buildPasses(OperationName(ModuleOp::getOperationName(), &context),
                         timing, passes)))
    return failure();
  SmallVector<std::string> traces = traceFiles(passes);
  if (Error error = checkOutputs(traces))
    return report(std::move(error));
  std::deque<TracePrefetch> ahead(traces.begin(), traces.end());
  context.disableMultithreading();
  Progress progress(&context);
  progress.begin("reading " + options.input);
  TimingScope reading = timing.nest("Read");
  op = read(context);
  reading.stop();
  context.enableMultithreading(threaded && hasWorkForThreads(op.get()));
  htp::onnx::setExternalData(context, data);
  if (!op || failed(enableRemarks(context, config)))
    return failure();
  // Destroy the remark engine here, which emits remarks of the policy `final`
  // and completes the remarks file, as the context itself may never be freed.
  llvm::scope_exit finishRemarks([&] { context.setRemarkEngine(nullptr); });
  if (!passes && failed(buildPasses(op->getName(), timing, passes)))
    return failure();
  progress.follow(*passes);
  if (failed(passes->run(*op)))
    return failure();
  progress.begin("writing");
  TimingScope writing = timing.nest("Write");
  if (failed(writeAll(*op)))
    return failure();
  return success();
}

OwningOpRef<Operation *> Session::read(MLIRContext &context) {
  if (inputFormat == Format::ONNX)
    return importONNX(context);
  ParserConfig parser(&context, config.shouldVerifyOnParsing(),
                      &otherResources);
  return parseSourceFileForTool(sourceMgr, parser,
                                !config.shouldUseExplicitModule());
}

OwningOpRef<Operation *> Session::importONNX(MLIRContext &context) {
  // Map a regular file again, as a FileMapping, so that the writer can copy its
  // bytes inside the kernel.
  auto file = sys::fs::is_regular_file(options.input)
                  ? ModelFile::open(options.input)
                  : ModelFile::fromBuffer(std::move(input), options.input);
  if (!file) {
    reportError(toString(file.takeError()));
    return nullptr;
  }
  modelFile = *file;
  // The importer verifies the module itself.
  ImportOptions importOptions;
  std::unique_ptr<MetadataSink> tags = readTags(&context);
  importOptions.metadata = tags.get();
  std::string broken;
  OwningOpRef<ModuleOp> module;
  together(
      [&] {
        if (Error error = checkDataFiles())
          broken = toString(std::move(error));
      },
      [&] { module = importModel(modelFile, &context, importOptions); });
  tags.reset(); // may still read the message if the import failed
  modelFile->dropModel();
  if (!broken.empty()) {
    reportError(broken);
    return nullptr;
  }
  return OwningOpRef<Operation *>(module.release());
}

LogicalResult Session::buildPasses(OperationName name, TimingScope &timing,
                                   std::optional<PassManager> &passes) {
  passes.emplace(name, PassManager::Nesting::Implicit);
  passes->enableVerifier(config.shouldVerifyPasses());
  if (failed(applyPassManagerCLOptions(*passes)))
    return failure();
  passes->enableTiming(timing);
  return config.setupPassPipeline(*passes);
}
