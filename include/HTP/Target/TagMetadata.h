// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts between tags in the IR and in files. In the IR a tag is an attribute
// and the module tree an `htp.hierarchy`; in an ONNX file both are metadata: of
// a node `htp.tag`, `htp.scope`, `htp.call`, `htp.evidence`, `htp.confidence`,
// `htp.contexts`; of an initializer or a graph input `htp.parameter`,
// `htp.tags` and `htp.users`; of the model `htp.hierarchy`. The conversion
// happens here, on import and on export, and nowhere else: passes see
// attributes only.

#ifndef HTP_TARGET_TAGMETADATA_H
#define HTP_TARGET_TAGMETADATA_H

#include "HTP/Target/ONNX/MetadataSink.h"
#include "HTP/Target/ONNX/MetadataSource.h"

#include <memory>

namespace htp {

/// How tags are stored in a file.
enum class TagStorage {
  /// As metadata: valid ONNX.
  Metadata,
  /// As metadata, but only in HTP's own keys and with modules given by number:
  /// a quarter of the size, but unreadable for other tools.
  Compact,
  /// As the node attributes `source_module` and `hierarchy_tags`, which
  /// onnx.checker and ONNX Runtime reject.
  Attribute,
  /// Not at all: the module is stripped before it is written.
  None
};

/// Reads tags for the importer. They become `htp.tag` and scopes in locations,
/// the tree becomes an `htp.hierarchy`, and calls of outlined functions
/// func.call. What an earlier export added or changed for other tools is
/// undone. If the tree is missing or invalid, tags are dropped with a warning.
std::unique_ptr<MetadataSink> readTags(mlir::MLIRContext *context);

/// Writes the tags of a module for the exporter. Keys that other tools read
/// (`namespace`, `pkg.torch.onnx.name_scopes`,
/// `pkg.torch.onnx.class_hierarchy`) are added where they are missing. Returns
/// null for a module without an `htp.hierarchy`. With TagStorage::Attribute the
/// attributes are set on the ops; otherwise the module is not modified.
std::unique_ptr<MetadataSource>
writeTags(mlir::ModuleOp module, TagStorage storage = TagStorage::Metadata);

/// Stores the module tree and the paths of parameters in a form that tools
/// without HTP preserve (HTP/Dialect/HTP/IR/PlainNotes.h). Does nothing without
/// an `htp.hierarchy`.
void writePlainTags(mlir::ModuleOp module);

} // namespace htp

#endif // HTP_TARGET_TAGMETADATA_H
