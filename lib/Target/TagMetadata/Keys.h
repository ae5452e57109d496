// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The keys of HTP's metadata that are not also names of attributes.

#ifndef HTP_LIB_TARGET_TAGMETADATA_KEYS_H
#define HTP_LIB_TARGET_TAGMETADATA_KEYS_H

#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"

namespace htp {

/// All of HTP's keys begin so.
inline constexpr llvm::StringLiteral kOurPrefix = "htp.";

// Of the model: its module tree; ir_version before it was raised; that tags are
// node attributes; that they name the classes of torch.nn.
inline constexpr llvm::StringLiteral kTreeKey = "htp.hierarchy";
inline constexpr llvm::StringLiteral kIRVersionKey = "htp.ir_version";
inline constexpr llvm::StringLiteral kStorageKey = "htp.storage";
inline constexpr llvm::StringLiteral kTorchNNKey = "htp.torch_nn";

// Of a node.
inline constexpr llvm::StringLiteral kTagKey = "htp.tag";
inline constexpr llvm::StringLiteral kScopeKey = "htp.scope";
/// Of TagStorage::Compact, in place of both: the module's number in the tree.
inline constexpr llvm::StringLiteral kIdKey = "htp.id";
inline constexpr llvm::StringLiteral kCallKey = "htp.call";
inline constexpr llvm::StringLiteral kEvidenceKey = "htp.evidence";
inline constexpr llvm::StringLiteral kConfidenceKey = "htp.confidence";
inline constexpr llvm::StringLiteral kContextsKey = "htp.contexts";
inline constexpr llvm::StringLiteral kReasonKey = "htp.reason";
/// The keys of other tools that HTP added, with commas between them.
inline constexpr llvm::StringLiteral kAddedKey = "htp.added";

/// Of an initializer or an input: the tags of the modules that read it.
inline constexpr llvm::StringLiteral kTagsKey = "htp.tags";

/// Of a graph whose modules are functions: the types of all its values.
inline constexpr llvm::StringLiteral kValueInfoKey = "htp.value_info";

// Node attributes of TagStorage::Attribute.
inline constexpr llvm::StringLiteral kSourceModule = "source_module";
inline constexpr llvm::StringLiteral kHierarchyTags = "hierarchy_tags";

/// What outlining keeps on calls and constants: attributes whose text is the
/// metadata under the same name.
inline constexpr llvm::StringLiteral kRecordKeys[] = {
    kOrderAttr,     kOriginalsAttr, kPositionsAttr,
    kConstantsAttr, kConstantAttr,  kSunkAttr};

} // namespace htp

#endif // HTP_LIB_TARGET_TAGMETADATA_KEYS_H
