// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small compiler for ONNX that compiles a model one module at a time:
//
//   Driver    import, tag, outline; each function through the cache; run
//   Lower     a function of ONNX ops to linalg, the only part that knows ONNX
//   Compile   linalg to an object file, by MLIR's and LLVM's own passes
//   Run       links the object files in memory and calls the model

#ifndef COMPILER_H
#define COMPILER_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

/// The weights that a function holds: in the lowered one, the symbols weight0,
/// weight1, …
llvm::SmallVector<mlir::Operation *> weightsOf(mlir::func::FuncOp function);

/// `function` alone in a module, as `void name(inputs…, results…)` on
/// memrefs; functions that it calls are declared.
mlir::FailureOr<mlir::OwningOpRef<mlir::ModuleOp>>
lower(mlir::func::FuncOp function);

/// Machine code for this processor. With `entry`, also `run(void **)`, which
/// calls that function with descriptors of its memrefs.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
compile(mlir::ModuleOp module, llvm::StringRef entry);

/// A tensor in memory, row-major.
struct Tensor {
  mlir::RankedTensorType type;
  llvm::SmallVector<char> bytes;
};

/// Calls the model; `tensors` are inputs and results.
llvm::Error run(llvm::ArrayRef<std::unique_ptr<llvm::MemoryBuffer>> objects,
                llvm::MutableArrayRef<Tensor> weights,
                llvm::MutableArrayRef<Tensor> tensors);

#endif // COMPILER_H
