// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which outlined functions are compiled by themselves.
//
// Outlining nests: a decoder's layers hold attention, norms and activations,
// and one function of the model may hold all layers. A file for each would cut
// what IREE fuses. So files are the layers: the outermost modules that are
// called again and again. What lies within them, and what lies around them, is
// inlined. A class is one choice: where one layer of many is different, its
// function is a file, too.

#ifndef HTP_LIB_TARGET_IREE_LAYERS_H
#define HTP_LIB_TARGET_IREE_LAYERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace htp {

/// What is around the layers; in one file, since each file costs IREE a fifth
/// of a second before it sees an op.
inline constexpr llvm::StringLiteral kAroundFile = "main_around";

/// A function that is compiled apart from the main one.
struct Layer {
  mlir::func::FuncOp function;
  std::string name;      ///< of the function there
  std::string className; ///< of the modules that it is the body of
  std::vector<mlir::func::CallOp> calls; ///< in the main function
  std::string file; ///< also the name of IREE's module; mostly the function's
};

struct LayeredModel {
  mlir::func::FuncOp main;
  std::vector<Layer> layers; ///< in the order of their first call
};

/// Inlines, in place, all calls but those of layers in the main function.
mlir::FailureOr<LayeredModel> separateLayers(mlir::ModuleOp module);

} // namespace htp

#endif // HTP_LIB_TARGET_IREE_LAYERS_H
