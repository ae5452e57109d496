// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The border between tags and files. In the IR a tag is HTP's attribute and the
// module tree an `htp.hierarchy`; in an ONNX file both are metadata: of a node
// `htp.tag`, `htp.scope`, `htp.call`, `htp.evidence`, `htp.confidence`,
// `htp.contexts`; of an initializer or a graph input `htp.parameter`,
// `htp.tags` and `htp.users`; of the model `htp.hierarchy`. They become
// attributes when a file is imported and metadata when it is exported, here and
// nowhere else: passes see attributes only.

#ifndef HTP_TARGET_TAGMETADATA_H
#define HTP_TARGET_TAGMETADATA_H

#include "HTP/Target/ONNX/MetadataSink.h"
#include "HTP/Target/ONNX/MetadataSource.h"

#include <memory>

namespace htp {

/// Where the tags of a file are.
enum class TagStorage {
  /// In metadata: valid ONNX.
  Metadata,
  /// The same in HTP's own keys only, modules by their number in the tree: a
  /// quarter of the bytes, which other tools do not understand.
  Compact,
  /// In the node attributes `source_module` and `hierarchy_tags`, which
  /// onnx.checker and ONNX Runtime reject.
  Attribute,
  /// Nowhere: the module is stripped before it is written.
  None
};

/// Reads tags for an importer. They become `htp.tag` and scopes in locations,
/// the tree an `htp.hierarchy`, and calls of outlined functions func.call. What
/// an earlier export added for other tools goes, and so does what it changed.
/// Tags whose tree is missing or broken are left out, with a warning.
std::unique_ptr<MetadataSink> readTags(mlir::MLIRContext *context);

/// Writes the tags of a module for its exporter. Keys that other tools read
/// (`namespace`, `pkg.torch.onnx.name_scopes`,
/// `pkg.torch.onnx.class_hierarchy`) are added where they are missing. Null for
/// a module without an `htp.hierarchy`. With TagStorage::Attribute the ops get
/// the attributes; otherwise the module stays as it is.
std::unique_ptr<MetadataSource>
writeTags(mlir::ModuleOp module, TagStorage storage = TagStorage::Metadata);

/// Puts the module tree and the paths of parameters where tools keep them that
/// do not know HTP (HTP/Dialect/HTP/IR/PlainNotes.h). A module without an
/// `htp.hierarchy` stays as it is.
void writePlainTags(mlir::ModuleOp module);

} // namespace htp

#endif // HTP_TARGET_TAGMETADATA_H
