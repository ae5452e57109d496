// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chooses the outlined functions that are compiled separately.
//
// Outlined functions are nested: a decoder's layers contain attention, norms
// and activations, and one function may contain all layers. A file for each
// function would prevent IREE from fusing across them. So a file is a layer: an
// outermost module that is called repeatedly. Everything inside of and around
// the layers is inlined. The choice is made per class: if one of many layers
// differs, its function becomes a file, too.

#ifndef HTP_LIB_TARGET_IREE_LAYERS_H
#define HTP_LIB_TARGET_IREE_LAYERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace htp {

/// The file for everything around the layers. A single file, as IREE needs a
/// fifth of a second per file before it compiles anything.
inline constexpr llvm::StringLiteral kAroundFile = "main_around";

/// A function that is compiled apart from the main one.
struct Layer {
  mlir::func::FuncOp function;
  std::string name;                      ///< of the function in that file
  std::string className;                 ///< of the modules whose body it is
  std::vector<mlir::func::CallOp> calls; ///< in the main function
  std::string file; ///< also the name of IREE's module; usually the function's
};

struct LayeredModel {
  mlir::func::FuncOp main;
  std::vector<Layer> layers; ///< in the order of their first call
};

/// Inlines, in place, all calls except those of layers in the main function.
mlir::FailureOr<LayeredModel> separateLayers(mlir::ModuleOp module);

} // namespace htp

#endif // HTP_LIB_TARGET_IREE_LAYERS_H
