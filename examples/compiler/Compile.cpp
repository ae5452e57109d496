// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From linalg to machine code: nothing here knows ONNX or HTP.

#include "Compiler.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/ExecutionEngine/OptUtils.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;

static void buildPipeline(PassManager &passes) {
  passes.addPass(createLinalgElementwiseOpFusionPass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(bufferization::createOneShotBufferizePass());
  passes.addPass(createCanonicalizerPass());
  bufferization::buildBufferDeallocationPipeline(
      passes, bufferization::BufferDeallocationPipelineOptions());
  passes.addPass(createConvertBufferizationToMemRefPass());
  passes.addNestedPass<func::FuncOp>(createConvertLinalgToLoopsPass());
  passes.addPass(createConvertMathToLibmPass());
  passes.addPass(createSCFToControlFlowPass());
  passes.addPass(memref::createExpandStridedMetadataPass());
  passes.addPass(createLowerAffinePass());
  passes.addPass(createConvertToLLVMPass());
  passes.addPass(createReconcileUnrealizedCastsPass());
}

/// `void run(void **arguments)`: calls the entry with as many pointers as it
/// takes, which only the compiler knows.
static void addRun(llvm::Module &module, StringRef entry) {
  llvm::Function *callee = module.getFunction(("_mlir_ciface_" + entry).str());
  llvm::IRBuilder<> b(module.getContext());
  auto *run = llvm::Function::Create(
      llvm::FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false),
      llvm::Function::ExternalLinkage, "run", module);
  b.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "entry", run));
  SmallVector<llvm::Value *> arguments;
  for (unsigned i = 0; i < callee->arg_size(); ++i) {
    llvm::Value *at = b.CreateConstGEP1_32(b.getPtrTy(), run->getArg(0), i);
    arguments.push_back(b.CreateLoad(b.getPtrTy(), at));
  }
  b.CreateCall(callee, arguments);
  b.CreateRetVoid();
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>> compile(ModuleOp module,
                                                            StringRef entry) {
  PassManager passes(module.getContext());
  buildPipeline(passes);
  if (failed(passes.run(module)))
    return llvm::createStringError("a function cannot be compiled");
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> code = translateModuleToLLVMIR(module, context);
  if (!code)
    return llvm::createStringError("a function cannot become LLVM IR");
  if (!entry.empty())
    addRun(*code, entry);
  auto host = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!host)
    return host.takeError();
  host->setRelocationModel(llvm::Reloc::PIC_); // weights lie anywhere
  auto machine = host->createTargetMachine();
  if (!machine)
    return machine.takeError();
  code->setDataLayout((*machine)->createDataLayout());
  code->setPICLevel(llvm::PICLevel::BigPIC);
  code->setTargetTriple((*machine)->getTargetTriple());
  if (llvm::Error error =
          makeOptimizingTransformer(2, 0, machine->get())(code.get()))
    return std::move(error);
  SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager emit;
  if ((*machine)->addPassesToEmitFile(emit, stream, nullptr,
                                      llvm::CodeGenFileType::ObjectFile))
    return llvm::createStringError("no object files for this processor");
  emit.run(*code);
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes));
}
