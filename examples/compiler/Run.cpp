// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Compiler.h"

#include "llvm/ExecutionEngine/Orc/LLJIT.h"

using namespace mlir;

/// What MLIR passes for a memref: two pointers, an offset, sizes and strides.
static std::vector<int64_t> descriptorOf(Tensor &tensor) {
  auto address = reinterpret_cast<int64_t>(tensor.bytes.data());
  ArrayRef<int64_t> shape = tensor.type.getShape();
  std::vector<int64_t> descriptor = {address, address, 0};
  descriptor.insert(descriptor.end(), shape.begin(), shape.end());
  for (size_t i = 0; i < shape.size(); ++i)
    descriptor.push_back(llvm::product_of(shape.drop_front(i + 1)));
  return descriptor;
}

llvm::Error run(ArrayRef<std::unique_ptr<llvm::MemoryBuffer>> objects,
                MutableArrayRef<Tensor> weights,
                MutableArrayRef<Tensor> tensors) {
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  for (const auto &object : objects)
    if (llvm::Error error = (*jit)->addObjectFile(
            llvm::MemoryBuffer::getMemBufferCopy(object->getBuffer())))
      return error;
  llvm::orc::SymbolMap symbols;
  for (auto [i, weight] : llvm::enumerate(weights))
    symbols[(*jit)->mangleAndIntern("weight" + std::to_string(i))] = {
        llvm::orc::ExecutorAddr::fromPtr(weight.bytes.data()),
        llvm::JITSymbolFlags::Exported};
  if (llvm::Error error = (*jit)->getMainJITDylib().define(
          llvm::orc::absoluteSymbols(std::move(symbols))))
    return error;
  auto entry = (*jit)->lookup("run");
  if (!entry)
    return entry.takeError();
  std::vector<std::vector<int64_t>> descriptors;
  for (Tensor &tensor : tensors)
    descriptors.push_back(descriptorOf(tensor));
  std::vector<void *> arguments;
  for (auto &descriptor : descriptors)
    arguments.push_back(descriptor.data());
  entry->toPtr<void (*)(void **)>()(arguments.data());
  return llvm::Error::success();
}
