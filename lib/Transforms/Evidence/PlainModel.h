// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Handles models from tools that do not know HTP and drop some attributes. In
// onnx-mlir's output all tensors are `onnx.Constant dense<…>`: nothing tells
// which of them were initializers.

#ifndef HTP_LIB_TRANSFORMS_EVIDENCE_PLAINMODEL_H
#define HTP_LIB_TRANSFORMS_EVIDENCE_PLAINMODEL_H

#include "HTP/Hierarchy/ModuleTree.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace htp {

/// The tree that the module holds as text (PlainNotes.h), or nothing; with a
/// warning where the text is no tree.
std::optional<ModuleTree> treeFromText(mlir::ModuleOp module);

/// Makes initializers of the constants of a model that does not say which of
/// them are: to ONNX it is the same, and a function that shares its body then
/// takes weights as operands. Constants inside of outlined functions stay.
/// Returns whether it is such a model.
bool markInitializers(mlir::ModuleOp module);

/// Takes the notes of PlainNotes.h out of a model whose tree is now an
/// `htp.hierarchy`; with `keep` the parameters that they name become
/// attributes.
void takePlainNotes(mlir::ModuleOp module, bool keep);

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_EVIDENCE_PLAINMODEL_H
