// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The writing half of a session: one function per output format, and the
// placement of external data.

#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "HTP/Target/IREE.h"
#include "HTP/Target/ONNX/Export.h"
#include "HTP/Target/ONNX/ExternalTensors.h"
#include "HTP/Target/ONNX/ModelWriter.h"
#include "HTP/Target/ONNX/OnnxMlir.h"
#include "HTP/Target/TagMetadata.h"
#include "HTP/Tools/HtpOpt/Diagnostics.h"
#include "HTP/Tools/HtpOpt/Session.h"

#include "google/protobuf/arena.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Operation.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace mlir;
using namespace htp;

/// Reports an error about a file. Not as a diagnostic on the module, which
/// would print the whole module as a note.
static LogicalResult report(Error error) {
  reportError(toString(std::move(error)));
  return failure();
}

LogicalResult Session::writeAll(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module && !sideOutputs.empty())
    return report(
        createStringError("--" + options.sides.front().kind->flag +
                          " needs a builtin.module at the top, found '" +
                          op->getName().getStringRef() + "'"));
  if (module)
    for (auto &step : options.finalSteps)
      if (failed(step(module)))
        return failure();
  StringRef named = StringRef(options.output).ends_with(".onnx")
                        ? options.output
                        : options.input;
  for (auto [side, file] : zip_equal(options.sides, sideOutputs)) {
    const SideOutput &kind = *side.kind;
    LogicalResult written =
        kind.namedWriter
            ? kind.namedWriter(module, sys::path::filename(named), file->os())
            : kind.writer(module, file->os());
    if (failed(written))
      return failure();
  }
  if (options.format == Format::IREE)
    return writeFolder(op);
  if (StringRef(options.output).contains('%') && module)
    return writeEachModule(module);
  return mainOutput ? write(op, *mainOutput) : success();
}

/// `-o 'dir/%.onnx'`: writes one file per nested module, named after it.
LogicalResult Session::writeEachModule(ModuleOp parent) {
  if (parent.getOps<ModuleOp>().empty())
    return report(createStringError(
        "cannot write '" + options.output +
        "': '%' asks for one file per module, found no module inside of the "
        "module"));
  for (ModuleOp module : parent.getOps<ModuleOp>()) {
    std::string name = module.getName().value_or("").str();
    if (name.empty())
      return report(createStringError("cannot write '" + options.output +
                                      "': a module in it has no name"));
    // The name must not contain separators that lead out of the folder.
    std::replace(name.begin(), name.end(), '/', '_');
    auto [before, after] = StringRef(options.output).split('%');
    auto file = outputs.open((before + name + after).str());
    if (!file)
      return report(file.takeError());
    if (failed(write(module, **file)))
      return failure();
  }
  return success();
}

/// `--emit=iree -o dir`: writes a folder of files.
LogicalResult Session::writeFolder(Operation *op) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    return op->emitError() << "only a builtin.module can be written for IREE, "
                              "found '"
                           << op->getName() << "'";
  return writeIREE(module, [&](StringRef name) -> raw_ostream * {
    SmallString<128> path(options.output);
    sys::path::append(path, name);
    auto file = outputs.open(path);
    if (file)
      return &(*file)->os();
    (void)report(file.takeError());
    return nullptr;
  });
}

/// The data files that attributes of the module refer to.
static std::set<std::string> locationsIn(Operation *op) {
  std::set<std::string> locations;
  AttrTypeWalker walker;
  walker.addWalk([&](htp::onnx::ExternalAttr external) {
    locations.insert(external.lookup("location").str());
  });
  op->walk(
      [&](Operation *nested) { walker.walk(nested->getAttrDictionary()); });
  return locations;
}

LogicalResult Session::write(Operation *op, OutputFile &file) {
  if (options.format == Format::Text || options.format == Format::Bytecode)
    if (Error error = placeData(locationsIn(op), file))
      return report(std::move(error));
  switch (options.format) {
  case Format::ONNX:
    return writeONNX(op, file);
  case Format::Bytecode: {
    BytecodeWriterConfig writer(otherResources);
    if (auto version = config.bytecodeVersionToEmit())
      writer.setDesiredBytecodeVersion(*version);
    if (config.shouldElideResourceDataFromBytecode())
      writer.setElideResourceDataFlag();
    return writeBytecodeToFile(op, file.os(), writer);
  }
  case Format::OnnxMlir:
    return writeOnnxMlir(op, file);
  case Format::IREE:
    break; // handled by writeFolder
  case Format::Text: {
    if (config.bytecodeVersionToEmit())
      return op->emitError("bytecode version while not emitting bytecode");
    AsmState state(op, OpPrintingFlags(), /*locationMap=*/nullptr,
                   &otherResources);
    file.os() << OpWithState(op, state) << '\n';
    return success();
  }
  }
  llvm_unreachable("unknown format");
}

/// Writes the module in onnx-mlir's form, with external data included.
LogicalResult Session::writeOnnxMlir(Operation *op, OutputFile &file) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    return op->emitError() << "only a builtin.module can be written for "
                              "onnx-mlir, found '"
                           << op->getName() << "'";
  OwningOpRef<ModuleOp> strict = module.clone();
  writePlainTags(*strict);
  auto read = [&](htp::onnx::ExternalAttr attr) -> Expected<ArrayRef<char>> {
    auto range = ExternalRange::parse(
        attr.lookup("location"), attr.lookup("offset"), attr.lookup("length"));
    if (!range)
      return range.takeError();
    return data->bytes(*range, htp::onnx::getRawSize(attr.getType()));
  };
  if (failed(convertToOnnxMlir(*strict, read)))
    return failure();
  AsmState state(*strict, OpPrintingFlags(), /*locationMap=*/nullptr,
                 &otherResources);
  file.os() << OpWithState(*strict, state) << '\n';
  return success();
}

/// Links or copies the external data files to the output's folder.
Error Session::placeData(const std::set<std::string> &locations,
                         const OutputFile &file) {
  if (!file.isInFolder() || locations.empty())
    return Error::success();
  if (options.placement == DataPlacement::Inline)
    return createStringError("cannot write '" + file.path() +
                             "': --external-data=inline needs ONNX output");
  for (const std::string &location : locations) {
    Expected<std::string> source = data->resolve(location);
    if (!source)
      return source.takeError();
    SmallString<128> target(sys::path::parent_path(file.path()));
    sys::path::append(target, location);
    if (sys::fs::equivalent(*source, target))
      continue;
    if (Error error = outputs.addCopy(*source, target,
                                      options.placement == DataPlacement::Link))
      return error;
  }
  return Error::success();
}

LogicalResult Session::writeONNX(Operation *op, OutputFile &file) {
  auto module = dyn_cast<ModuleOp>(op);
  if (!module)
    return report(
        createStringError("cannot write '" + file.path() +
                          "': only a builtin.module can become ONNX, found '" +
                          op->getName().getStringRef() + "'"));
  metadata = options.tagStorage == TagStorage::None
                 ? nullptr
                 : writeTags(module, options.tagStorage);
  // The model is millions of small messages; allocate them in large blocks.
  google::protobuf::ArenaOptions blocks;
  blocks.start_block_size = blocks.max_block_size = 1 << 20;
  messages = std::make_unique<google::protobuf::Arena>(blocks);
  auto &model = *google::protobuf::Arena::CreateMessage<::onnx::ModelProto>(
      messages.get());
  ModelWriter writer;
  if (failed(exportModel(module, model, writer, {metadata.get()})))
    return failure();
  Error error = options.placement == DataPlacement::Inline
                    ? inlineExternalData(model, *data, writer)
                    : placeData(externalLocations(model), file);
  if (error)
    return report(std::move(error));
  if (Error error = writer.write(model, file.descriptor()))
    return report(createStringError("cannot write '" + file.path() +
                                    "': " + toString(std::move(error))));
  return success();
}
