// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// compiler MODEL.onnx [--cache DIR] [--input FILE]... [--output PREFIX]
//
// Compiles a model one module at a time. A function whose body is in the cache
// is not compiled again: a model of 32 equal layers is one layer and a main.
// Inputs and results are raw row-major files.

#include "Compiler.h"

#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "HTP/Dialect/ONNX/Transforms/Passes.h"
#include "HTP/Pipelines/Pipelines.h"
#include "HTP/Target/ONNX/Import.h"
#include "HTP/Target/TagMetadata.h"
#include "HTP/Transforms/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/All.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

#include <chrono>

using namespace mlir;
using llvm::Error, llvm::Expected, llvm::createStringError;

namespace cl = llvm::cl;
static cl::opt<std::string> modelPath(cl::Positional, cl::Required);
static cl::opt<std::string> cachePath("cache", cl::init("cache"));
static cl::list<std::string> inputPaths("input");
static cl::opt<std::string> outputPrefix("output");

static Expected<OwningOpRef<ModuleOp>> readOutlined(MLIRContext *context) {
  auto file = htp::ModelFile::open(modelPath);
  if (!file)
    return file.takeError();
  htp::ImportOptions options;
  auto tags = htp::readTags(context);
  options.metadata = tags.get();
  OwningOpRef<ModuleOp> module = htp::importModel(*file, context, options);
  PassManager passes(context);
  htp::buildTagPipeline(passes, htp::TagPipelineOptions());
  passes.addPass(htp::createONNXInferShapes());
  passes.addPass(htp::createHTPOutline());
  if (!module || failed(passes.run(*module)))
    return createStringError("'" + modelPath + "' cannot be outlined");
  return module;
}

/// What the code of a function depends on: its body, without names, tags and
/// locations, and without the weights, which it is given.
static std::string keyOf(func::FuncOp function) {
  OwningOpRef<func::FuncOp> copy = function.clone();
  copy->walk([](Operation *op) {
    if (op->hasAttr("onnx.initializer"))
      op->removeAttr("value");
    for (NamedAttribute attribute : llvm::to_vector(op->getAttrs()))
      if (htp::isAnnotation(attribute.getName()))
        op->removeAttr(attribute.getName());
  });
  (*copy)->removeAttr("arg_attrs");
  (*copy)->removeAttr("res_attrs");
  std::string text;
  llvm::raw_string_ostream os(text);
  os << LLVM_VERSION_STRING << llvm::sys::getHostCPUName() << "\n";
  copy->print(os, OpPrintingFlags().printGenericOpForm());
  return llvm::toHex(llvm::SHA256::hash(llvm::arrayRefFromStringRef(text)),
                     /*LowerCase=*/true);
}

static Expected<std::unique_ptr<llvm::MemoryBuffer>>
compileCached(func::FuncOp function, bool isEntry) {
  SmallString<128> path(cachePath);
  llvm::sys::path::append(path, keyOf(function) + ".o");
  if (auto known = llvm::MemoryBuffer::getFile(path)) {
    llvm::outs() << "@" << function.getSymName() << ": from the cache\n";
    return std::move(*known);
  }
  FailureOr<OwningOpRef<ModuleOp>> lowered = lower(function);
  if (failed(lowered))
    return createStringError("'@" + function.getSymName() +
                             "' cannot be lowered");
  auto object = compile(**lowered, isEntry ? function.getSymName() : "");
  if (!object)
    return object.takeError();
  llvm::outs() << "@" << function.getSymName() << ": compiled\n";
  // In one step: another process may read the cache.
  Error error = llvm::writeToOutput(path, [&](llvm::raw_ostream &os) {
    os << (*object)->getBuffer();
    return Error::success();
  });
  if (error)
    return std::move(error);
  return object;
}

static Tensor makeTensor(Type type) {
  auto ranked = cast<RankedTensorType>(type);
  Tensor tensor{ranked, {}};
  tensor.bytes.resize(ranked.getNumElements() *
                      ranked.getElementTypeBitWidth() / 8);
  return tensor;
}

static Error fillTensor(Tensor &tensor, ArrayRef<char> bytes) {
  if (bytes.size() != tensor.bytes.size())
    return createStringError("a tensor has " + llvm::Twine(bytes.size()) +
                             " bytes, expected " +
                             llvm::Twine(tensor.bytes.size()));
  llvm::copy(bytes, tensor.bytes.begin());
  return Error::success();
}

static Error readInputs(func::FuncOp main, std::vector<Tensor> &tensors) {
  if (inputPaths.size() != main.getNumArguments())
    return createStringError(
        "the model has " + llvm::Twine(main.getNumArguments()) +
        " inputs, found " + llvm::Twine(inputPaths.size()));
  for (auto [type, path] : llvm::zip(main.getArgumentTypes(), inputPaths)) {
    auto file = llvm::MemoryBuffer::getFile(path);
    if (!file)
      return createStringError("cannot read '" + path + "'");
    if (Error error = fillTensor(tensors.emplace_back(makeTensor(type)),
                                 (*file)->getBuffer()))
      return error;
  }
  return Error::success();
}

static Error readWeights(func::FuncOp main, std::vector<Tensor> &weights) {
  for (Operation *op : weightsOf(main)) {
    llvm::SmallVector<char> storage;
    auto bytes = htp::getTensorBytes(op->getAttr("value"), storage);
    if (!bytes)
      return createStringError("a weight's bytes are not at hand");
    Tensor weight = makeTensor(op->getResult(0).getType());
    if (Error error = fillTensor(weight, *bytes))
      return error;
    weights.push_back(std::move(weight));
  }
  return Error::success();
}

static Error runModel(func::FuncOp main,
                      ArrayRef<std::unique_ptr<llvm::MemoryBuffer>> objects) {
  std::vector<Tensor> weights, tensors;
  if (Error error = readInputs(main, tensors))
    return error;
  if (Error error = readWeights(main, weights))
    return error;
  for (Type type : main.getResultTypes())
    tensors.push_back(makeTensor(type));
  if (Error error = run(objects, weights, tensors))
    return error;
  auto results = ArrayRef(tensors).take_back(main.getResultTypes().size());
  for (auto [i, tensor] : llvm::enumerate(results)) {
    std::error_code code;
    llvm::raw_fd_ostream os(outputPrefix + std::to_string(i) + ".bin", code);
    if (code)
      return llvm::errorCodeToError(code);
    os.write(tensor.bytes.data(), tensor.bytes.size());
  }
  return Error::success();
}

static Error compileModel(MLIRContext *context) {
  auto module = readOutlined(context);
  if (!module)
    return module.takeError();
  if (std::error_code code = llvm::sys::fs::create_directories(cachePath))
    return llvm::errorCodeToError(code);
  auto start = std::chrono::steady_clock::now();
  std::vector<std::unique_ptr<llvm::MemoryBuffer>> objects;
  func::FuncOp main;
  for (auto function : (*module)->getOps<func::FuncOp>()) {
    bool isEntry = !function->hasAttr(htp::kModuleAttr);
    if (isEntry)
      main = function;
    auto object = compileCached(function, isEntry);
    if (!object)
      return object.takeError();
    objects.push_back(std::move(*object));
  }
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  llvm::outs() << objects.size() << " functions in "
               << llvm::format("%.3f", took.count()) << " s\n";
  return outputPrefix.empty() ? Error::success() : runModel(main, objects);
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::ParseCommandLineOptions(argc, argv, "Compiles ONNX module by module\n");
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerAllToLLVMIRTranslations(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.loadDialect<htp::HTPDialect, htp::onnx::ONNXDialect>();
  if (Error error = compileModel(&context)) {
    llvm::errs() << "error: " << toString(std::move(error)) << "\n";
    return 1;
  }
  return 0;
}
