// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tags inside an ONNX model. In the IR a tag is HTP's attribute; in a file it
// is metadata: of a node `htp.tag`, `htp.scope`, `htp.call`, `htp.evidence`,
// `htp.confidence`, `htp.contexts`; of an initializer or a graph input
// `htp.parameter` and `htp.tags`; of the model `htp.hierarchy`. These functions
// go between the two, before the exporter and after the importer, which keep
// metadata as it is.

#ifndef HTP_TARGET_ONNX_TAGS_H
#define HTP_TARGET_ONNX_TAGS_H

#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Hierarchy/ModuleTree.h"
#include "HTP/Target/ONNX/MetadataSource.h"

namespace htp {

/// Where tags go.
enum class TagStorage {
  /// Into metadata: valid ONNX.
  Metadata,
  /// Into the node attributes `source_module` and `hierarchy_tags`, which
  /// onnx.checker and ONNX Runtime reject.
  Attribute,
  /// Nowhere: --htp-strip instead of embedTags.
  None
};

/// Prepares a module with tags for the exporter, which asks the result for the
/// metadata of nodes and initializers; what the model, its functions and their
/// arguments say goes into the module's own metadata. All of it stands in place
/// of what an earlier run wrote. Keys that other tools read (`namespace`,
/// `pkg.torch.onnx.name_scopes`, `pkg.torch.onnx.class_hierarchy`) are added
/// where they are missing, and `ir_version` is raised to 10, the first with
/// metadata on nodes. A module without tags is left as it is, and the result is
/// null.
std::unique_ptr<MetadataSource>
embedTags(mlir::ModuleOp module, TagStorage storage = TagStorage::Metadata);

/// The inverse of embedTags: where the module's metadata has a tree and the
/// module has none, the tree, tags and parameters become HTP's attributes
/// again, and calls of outlined functions func.call. Fails where the tree is
/// malformed.
mlir::LogicalResult liftTags(mlir::ModuleOp module);

/// liftTags for those who need the module's tree then: it is not read twice.
/// Nothing where there is none.
mlir::FailureOr<std::optional<ModuleTree>> liftTree(mlir::ModuleOp module);

/// liftTree for those who have something to do while the tree becomes IR: where
/// the module has no htp.hierarchy yet, they make it (toIR). Without `scopes`
/// the locations stay as they are, and who keeps ops attaches theirs in the end
/// (attachTagScopes): of a large model, most ops that are outlined go.
mlir::FailureOr<std::optional<ModuleTree>> takeTree(mlir::ModuleOp module,
                                                    bool scopes);

/// Removes everything that embedTags wrote and restores what it changed.
void removeEmbeddedTags(mlir::ModuleOp module);

/// The tree in the metadata of a model that was tagged before; nothing where
/// there is none.
llvm::Expected<std::optional<ModuleTree>> embeddedTree(mlir::ModuleOp module);

/// The tag in the metadata of a node, or null.
TagAttr embeddedTag(mlir::Operation *op);

/// The modules that read a value (a parameter), through copies of it, by the
/// tags of the nodes; in order, each once.
llvm::SmallVector<llvm::StringRef> taggedReaders(mlir::Value value);

} // namespace htp

#endif // HTP_TARGET_ONNX_TAGS_H
