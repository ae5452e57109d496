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

/// The tree that the module holds as text (PlainNotes.h), or nothing. Warns if
/// the text is not a tree.
std::optional<ModuleTree> treeFromText(mlir::ModuleOp module);

/// Marks the constants as initializers if the model does not say which of them
/// are. To ONNX this makes no difference, and a function that several layers
/// share can then take its weights as operands. Constants inside outlined
/// functions stay as they are. Returns whether the model is such a model.
bool markInitializers(mlir::ModuleOp module);

/// Removes the notes of PlainNotes.h from a model whose tree is now an
/// `htp.hierarchy`. With `keep`, the parameters that they name become
/// attributes.
void takePlainNotes(mlir::ModuleOp module, bool keep);

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_EVIDENCE_PLAINMODEL_H
