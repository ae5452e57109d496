// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of htp-opt: its own options, MLIR's, and the help text.

#include "HTP/Tools/HtpOpt/HtpOpt.h"

#include "HTP/Support/FileMapping.h"
#include "HTP/Support/InputFile.h"
#include "HTP/Tools/HtpOpt/Diagnostics.h"
#include "HTP/Tools/HtpOpt/ParentWatch.h"
#include "HTP/Tools/HtpOpt/Session.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include "llvm/Support/BuryPointer.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Debug.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Process.h"

#include <deque>

using namespace llvm;
using namespace mlir;
using namespace htp;

namespace {

/// A registered side output with its flag. The flag's value is optional:
/// `--summary` alone writes to standard output.
struct SideOutputOption {
  SideOutputOption(SideOutput output, cl::OptionCategory &category)
      : output(std::move(output)),
        file(StringRef(this->output.flag), cl::desc(this->output.help),
             cl::value_desc("file"), cl::ValueOptional, cl::cat(category)) {}
  SideOutput output;
  cl::opt<std::string> file;
};

constexpr StringLiteral kParentFlag = "exit-with-parent";

/// HTP's own options. The help sorts categories by name; the leading blank puts
/// this one before MLIR's few hundred options.
struct CommandLine {
  cl::OptionCategory category{" HTP options"};
  cl::opt<Format> emit{
      "emit", cl::desc("Output format (default: by the extension of -o)"),
      cl::values(clEnumValN(Format::ONNX, "onnx", "ONNX protobuf"),
                 clEnumValN(Format::Text, "mlir", "MLIR text"),
                 clEnumValN(Format::Bytecode, "mlirbc", "MLIR bytecode"),
                 clEnumValN(Format::OnnxMlir, "onnx-mlir",
                            "MLIR text in the strict form that onnx-mlir's "
                            "verifier accepts"),
                 clEnumValN(Format::IREE, "iree",
                            "a folder that IREE compiles file by file: the "
                            "layers of an outlined model, and the rest")),
      cl::cat(category)};
  // Not `link` by default: onnx.load and onnx.checker reject data files with
  // several hard links, so afterwards they would reject the input model, too.
  cl::opt<DataPlacement> placement{
      "external-data",
      cl::desc("External data of a model that is written to another folder:"),
      cl::values(clEnumValN(DataPlacement::Copy, "copy",
                            "copy it next to the model (default); a "
                            "copy-on-write clone if possible"),
                 clEnumValN(DataPlacement::Link, "link",
                            "hard link it, or else copy it; onnx 1.23 rejects "
                            "data files with several links"),
                 clEnumValN(DataPlacement::Inline, "inline",
                            "store it in the model itself")),
      cl::init(DataPlacement::Copy), cl::cat(category)};
  cl::opt<TagStorage> tagStorage{
      "tag-storage", cl::desc("How tags are stored in an ONNX file:"),
      cl::values(clEnumValN(TagStorage::Metadata, "metadata",
                            "in metadata_props (default)"),
                 clEnumValN(TagStorage::Compact, "compact",
                            "the same in a short form that only HTP reads: "
                            "modules by number, no keys for other tools"),
                 clEnumValN(TagStorage::Attribute, "attribute",
                            "in the node attributes source_module and "
                            "hierarchy_tags, which onnx.checker and ONNX "
                            "Runtime reject"),
                 clEnumValN(TagStorage::None, "none",
                            "not at all; only side outputs have them "
                            "(--op-metadata)")),
      cl::init(TagStorage::Metadata), cl::cat(category)};
  // LLVM's own -h also matches as a prefix of unknown options, so that a
  // misspelled --htp-… would print the help and succeed. This one does not.
  cl::opt<bool> help{"h", cl::desc("Alias for --help"), cl::ValueDisallowed};
  // Handled by watchParent before parsing; declared here so that the parser
  // accepts it.
  cl::opt<int> parent{
      StringRef(kParentFlag),
      cl::desc("Exit when the process with this id is no longer the parent"),
      cl::value_desc("pid"), cl::Hidden, cl::cat(category)};
  std::deque<SideOutputOption> sides;
  std::vector<SessionOptions::Step> finalSteps;
};

} // namespace

/// Static, as LLVM's command line library keeps pointers to options.
static CommandLine &commandLine() {
  static CommandLine instance;
  return instance;
}

void htp::registerSideOutput(SideOutput output) {
  CommandLine &line = commandLine();
  line.sides.emplace_back(std::move(output), line.category);
}

void htp::registerFinalStep(std::function<LogicalResult(ModuleOp)> step) {
  commandLine().finalSteps.push_back(std::move(step));
}

cl::OptionCategory &htp::optionCategory() { return commandLine().category; }

/// Hides the hundreds of options that libLLVM registers for code generators,
/// which htp-opt never runs. `--help-hidden` lists them.
static void hideForeignOptions() {
  for (auto [name, option] : cl::getRegisteredOptions())
    if (!is_contained(option->Categories, &commandLine().category) &&
        name != "help" && name != "version" && name != "color")
      option->setHiddenFlag(cl::Hidden);
}

#ifndef NDEBUG
/// Adds `--debug-only`, which LLVM has only if it was itself built with
/// assertions. The filter behind it is always there.
static void registerDebugOnly() {
  if (cl::getRegisteredOptions().contains("debug-only"))
    return;
  static std::vector<std::string> chosen;
  static cl::list<std::string> types(
      "debug-only", cl::CommaSeparated,
      cl::desc("Print debug output of these types (htp-outline, …)"),
      cl::value_desc("types"), cl::cat(commandLine().category),
      cl::callback([](const std::string &type) {
        chosen.push_back(type);
        auto names = map_to_vector(
            chosen, [](const std::string &name) { return name.c_str(); });
        setCurrentDebugTypes(names.data(), names.size());
        DebugFlag = true;
      }));
}
#endif

/// Lists HTP's passes with their summaries, as they would be lost among MLIR's.
static void describePasses(raw_ostream &os) {
  std::vector<StringRef> flags;
  for (const auto &option : cl::getRegisteredOptions())
    if (option.first.starts_with("htp-"))
      flags.push_back(option.first);
  llvm::sort(flags);
  for (StringRef flag : flags) {
    const PassRegistryEntry *entry = PassInfo::lookup(flag);
    if (!entry)
      entry = PassPipelineInfo::lookup(flag);
    if (entry)
      os << "  --" << left_justify(flag, 27) << entry->getPassDescription()
         << "\n";
  }
}

static std::string overview() {
  std::string text;
  raw_string_ostream os(text);
  os << "HTP optimizer: which nn.Module did this ONNX node come from?\n\n"
        "Reads an ONNX model, MLIR text or MLIR bytecode (detected by "
        "content; - is\nstandard input), runs passes, and writes the format "
        "that "
        "the extension of -o\nimplies (.onnx, .mlir, .mlirbc); without -o, "
        "MLIR "
        "text to standard output.\n\n"
        "EXAMPLES:\n"
        "  htp-opt model.onnx                          # as MLIR, to read\n"
        "  htp-opt model.onnx --htp-tag -o tagged.onnx # tag every node\n"
        "  htp-opt model.onnx --cse -o smaller.onnx    # MLIR's own passes\n"
        "  htp-opt model.onnx --emit=onnx-mlir -o m.mlir\n"
        "  htp-opt tagged.onnx --htp-outline --emit=iree -o folder\n\n"
        "HTP PASSES (in full: docs/Passes.md):\n";
  describePasses(os);
  return text;
}

/// MLIR's modes for developing passes, which work on text. They are run by
/// MLIR's own MlirOptMain, which does not support HTP's other options.
static bool isDeveloperMode(const MlirOptMainConfig &config) {
  return config.shouldVerifyDiagnostics() ||
         !config.inputSplitMarker().empty() || config.shouldRunReproducer() ||
         config.shouldVerifyRoundtrip() || config.shouldShowDialects() ||
         config.shouldListPasses() || !config.getReproducerFilename().empty();
}

static LogicalResult runDeveloperMode(const SessionOptions &options,
                                      const MlirOptMainConfig &config,
                                      DialectRegistry &registry) {
  auto fail = [](const Twine &message) {
    reportError(message);
    return failure();
  };
  if (config.shouldShowDialects() || config.shouldListPasses())
    return MlirOptMain(outs(), MemoryBuffer::getMemBuffer(""), registry,
                       config);
  if (!options.sides.empty() || options.format == Format::ONNX ||
      options.format == Format::OnnxMlir || options.format == Format::IREE)
    return fail("--split-input-file, --verify-diagnostics, --verify-roundtrip "
                "and reproducers write MLIR only");
  auto buffer = openInput(options.input);
  if (!buffer)
    return fail("cannot read '" + options.input +
                "': " + toString(buffer.takeError()));
  if (formatOfContent(**buffer) == Format::ONNX)
    return fail("cannot read '" + options.input +
                "': --split-input-file, --verify-diagnostics, "
                "--verify-roundtrip and reproducers need MLIR");
  OutputFiles outputs;
  auto file = outputs.open(options.output);
  if (!file)
    return fail(toString(file.takeError()));
  if (failed(MlirOptMain((*file)->os(), std::move(*buffer), registry, config)))
    return failure();
  if (Error error = outputs.commit())
    return fail(toString(std::move(error)));
  return success();
}

static SessionOptions sessionOptions(StringRef input, StringRef output,
                                     const MlirOptMainConfig &config) {
  CommandLine &line = commandLine();
  SessionOptions options;
  options.input = input.str();
  options.finalSteps = line.finalSteps;
  options.tagStorage = line.tagStorage;
  options.placement = line.placement;
  bool sideOnStdout = false;
  for (SideOutputOption &side : line.sides) {
    if (!side.file.getNumOccurrences())
      continue;
    std::string path = side.file.empty() ? "-" : side.file.getValue();
    sideOnStdout |= path == "-";
    options.sides.push_back({&side.output, path});
  }
  // Do not write two outputs to standard output.
  bool hasOutput = cl::getRegisteredOptions()["o"]->getNumOccurrences();
  if (hasOutput || !sideOnStdout)
    options.output = output.str();
  options.format = line.emit.getNumOccurrences() ? line.emit.getValue()
                   : config.shouldEmitBytecode() ? Format::Bytecode
                                                 : formatOfName(output);
  return options;
}

/// Prints locations when text is written to a file: they hold the scopes,
/// without which the file could not be tagged again. On standard output they
/// are printed only on request, as users read that.
static void keepLocationsInFiles(const SessionOptions &options) {
  cl::Option *printLocations =
      cl::getRegisteredOptions()["mlir-print-debuginfo"];
  bool toFile = !options.output.empty() && options.output != "-";
  if ((toFile || options.format == Format::OnnxMlir) &&
      !printLocations->getNumOccurrences())
    printLocations->addOccurrence(0, printLocations->ArgStr, "true");
}

/// Expands response files (`@file`). MLIR keeps views of pass options, but
/// LLVM's own expansion is freed once the command line is parsed.
static void expandResponseFiles(BumpPtrAllocator &allocator,
                                SmallVectorImpl<const char *> &arguments) {
  cl::ExpansionContext context(allocator, cl::TokenizeGNUCommandLine);
  if (Error error = context.expandResponseFiles(arguments))
    consumeError(std::move(error)); // LLVM's own expansion reports it
}

/// Starts to watch the parent given on the command line. Must happen before
/// response files are expanded: one may be standard input, on which the parent
/// sends arguments much later.
static void watchParent(ArrayRef<const char *> arguments) {
  for (StringRef argument : arguments) {
    argument.consume_front("-");
    int parent;
    if (argument.consume_front("-") && argument.consume_front(kParentFlag) &&
        argument.consume_front("=") && !argument.getAsInteger(10, parent))
      exitWithParent(parent);
  }
}

int htp::optMain(int argc, char **argv, DialectRegistry &registry) {
  InitLLVM init(argc, argv);
  endWhereFilesShrink();
  watchParent(ArrayRef<const char *>(argv, argc));
#ifndef NDEBUG
  registerDebugOnly();
#endif
  hideForeignOptions(); // those that exist before MLIR registers its own
  registerCLIOptions("htp-opt", registry);
  BumpPtrAllocator allocator;
  SmallVector<const char *> arguments(argv, argv + argc);
  expandResponseFiles(allocator, arguments);
  std::string about = overview(); // LLVM keeps a reference to it for -h
  auto [input, output] = parseCLIOptions(
      arguments.size(), const_cast<char **>(arguments.data()), about);
  if (commandLine().help) {
    cl::PrintHelpMessage(/*Hidden=*/false, /*Categorized=*/true);
    return 0;
  }
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (input == "-" && sys::Process::StandardInIsUserInput())
    errs() << "(reading from standard input; htp-opt --help shows how to use "
              "a file)\n";
  SessionOptions options = sessionOptions(input, output, config);
  keepLocationsInFiles(options);
  if (isDeveloperMode(config))
    return asMainReturnCode(runDeveloperMode(options, config, registry));
  auto session = std::make_unique<Session>(options, config, registry);
  if (failed(session->run()))
    return EXIT_FAILURE;
  // Freeing a large model takes a while, and the process exits anyway.
  BuryPointer(std::move(session));
  return EXIT_SUCCESS;
}
