// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the folder: chooses layers (Layers) and weights (Weights), writes a
// file for each layer (TorchText), the model around them (CallsFile or
// MainFile), and model.json.

#include "HTP/Target/IREE.h"

#include "CallsFile.h"
#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "Layers.h"
#include "MainFile.h"
#include "TorchText.h"
#include "Weights.h"

#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SHA256.h"

using namespace mlir;
using namespace htp;

namespace {

class FolderWriter {
public:
  FolderWriter(const LayeredModel &model, OpenInFolder open)
      : model(model), weights(model),
        onlyCalls(CallsFile::fits(model, weights)), open(open) {
    for (const Layer &layer : model.layers)
      files[layer.file].push_back(&layer);
  }

  LogicalResult write();

private:
  using WriteText = function_ref<LogicalResult(llvm::raw_ostream &, bool)>;
  LogicalResult writeProgram(StringRef name, WriteText writeText);
  LogicalResult writeFile(StringRef name, ArrayRef<const Layer *> layers);
  LogicalResult writeManifest(llvm::raw_ostream &os);
  void describe(llvm::json::OStream &json, Value value,
                DictionaryAttr attributes);

  const LayeredModel &model;
  Weights weights;
  bool onlyCalls; ///< the main function only calls layers
  OpenInFolder open;
  /// The layers in each file except main.mlir, in order of their first calls.
  llvm::MapVector<StringRef, SmallVector<const Layer *, 2>> files;
  llvm::StringMap<std::string> digests; ///< by program name
};

} // namespace

/// Writes a program's file. Its digest is computed without locations, as they
/// do not affect what it is compiled to.
LogicalResult FolderWriter::writeProgram(StringRef name, WriteText writeText) {
  std::string plain;
  llvm::raw_string_ostream plainText(plain);
  if (failed(writeText(plainText, /*locations=*/false)))
    return failure();
  auto digest = llvm::SHA256::hash(llvm::arrayRefFromStringRef(plain));
  digests[name] = llvm::toHex(digest, /*LowerCase=*/true);
  llvm::raw_ostream *file = open((name + ".mlir").str());
  return file ? writeText(*file, /*locations=*/true) : failure();
}

LogicalResult FolderWriter::writeFile(StringRef name,
                                      ArrayRef<const Layer *> layers) {
  return writeProgram(name, [&](llvm::raw_ostream &os, bool locations) {
    os << "module @" << name << " {\n";
    for (const Layer *layer : layers) {
      func::FuncOp function = layer->function;
      auto path = function->getAttrOfType<StringAttr>(kModuleAttr);
      if (failed(TorchText(os, locations)
                     .writeFunction(function, layer->name,
                                    path ? path.getValue() : StringRef())))
        return failure();
    }
    os << "}\n";
    return success();
  });
}

/// Writes name, type and shape of an input or output. A dynamic dimension is
/// written as its name, or null if it has none.
void FolderWriter::describe(llvm::json::OStream &json, Value value,
                            DictionaryAttr attributes) {
  auto text = [&](StringRef key) {
    auto attribute =
        attributes ? attributes.getAs<StringAttr>(key) : StringAttr();
    return attribute ? attribute.getValue() : StringRef();
  };
  SmallVector<StringRef> dims;
  text("onnx.dim_params").split(dims, ',');
  auto nameOfDim = [&](size_t axis) -> StringRef {
    for (StringRef dim : dims)
      if (auto [number, name] = dim.split(':'); number == std::to_string(axis))
        return name;
    return {};
  };
  auto type = cast<RankedTensorType>(value.getType());
  json.object([&] {
    json.attribute("name", text(kValueNameAttr));
    json.attribute("type", torchElement(type.getElementType()));
    json.attributeArray("shape", [&] {
      for (auto [axis, size] : llvm::enumerate(type.getShape()))
        if (!ShapedType::isDynamic(size))
          json.value(size);
        else if (StringRef name = nameOfDim(axis); !name.empty())
          json.value(name);
        else
          json.value(nullptr);
    });
  });
}

LogicalResult FolderWriter::writeManifest(llvm::raw_ostream &os) {
  func::FuncOp main = model.main;
  Block &body = main.front();
  for (Value value : llvm::concat<Value>(
           llvm::map_to_vector(body.getArguments(),
                               [](Value value) { return value; }),
           llvm::to_vector(body.back().getOperands())))
    if (!isa<RankedTensorType>(value.getType()))
      return main.emitError("an input or output has type ")
             << value.getType() << ", which IREE does not support";
  bool written = true;
  llvm::json::OStream json(os, 1);
  json.object([&] {
    json.attribute("format", "htp-iree");
    json.attribute("version", 1);
    json.attribute("entry", main.getSymName());
    json.attributeArray("layers", [&] {
      for (auto &[name, layers] : files)
        json.object([&, name = name, &layers = layers] {
          json.attribute("name", name);
          json.attribute("class",
                         name == kAroundFile ? name : layers[0]->className);
          json.attribute("digest", digests[name]);
          json.attributeArray("calls", [&] {
            for (const Layer *layer : layers)
              for (func::CallOp call : layer->calls) {
                auto tag = call->getAttrOfType<TagAttr>(kTagAttr);
                json.value(tag ? tag.getPath() : "");
              }
          });
        });
    });
    json.attributeObject("main", [&] {
      json.attribute("name", "main");
      json.attribute("digest", digests["main"]);
      if (onlyCalls)
        json.attribute("mode", "vm");
    });
    json.attributeArray("inputs", [&] {
      for (BlockArgument value : body.getArguments())
        describe(json, value, main.getArgAttrDict(value.getArgNumber()));
    });
    json.attributeArray("outputs", [&] {
      for (auto [i, value] : llvm::enumerate(body.back().getOperands()))
        describe(json, value, main.getResultAttrDict(i));
    });
    json.attributeArray("weights", [&] {
      llvm::raw_ostream *file = open("weights.bin");
      written = file && succeeded(weights.write(*file, json));
    });
  });
  os << '\n';
  return success(written);
}

LogicalResult FolderWriter::write() {
  for (auto &[name, layers] : files)
    if (failed(writeFile(name, layers)))
      return failure();
  if (failed(writeProgram("main", [&](llvm::raw_ostream &os, bool locations) {
        return onlyCalls ? CallsFile(os, locations, model, weights).write()
                         : MainFile(os, locations, model, weights).write();
      })))
    return failure();
  llvm::raw_ostream *manifest = open("model.json");
  return manifest ? writeManifest(*manifest) : failure();
}

LogicalResult htp::writeIREE(mlir::ModuleOp module, OpenInFolder open) {
  // Work on a copy, as this inlines calls and moves constants.
  OwningOpRef<mlir::ModuleOp> copy = module.clone();
  FailureOr<LayeredModel> model = separateLayers(*copy);
  return succeeded(model) ? FolderWriter(*model, open).write() : failure();
}
