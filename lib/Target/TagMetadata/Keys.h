// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The metadata keys of HTP, other than those that are also attribute names.

#ifndef HTP_LIB_TARGET_TAGMETADATA_KEYS_H
#define HTP_LIB_TARGET_TAGMETADATA_KEYS_H

#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"

namespace htp {

/// The prefix of all of HTP's keys.
inline constexpr llvm::StringLiteral kOurPrefix = "htp.";

// Keys of the model: the module tree; ir_version before it was raised; whether
// tags are node attributes; whether they include torch.nn classes.
inline constexpr llvm::StringLiteral kTreeKey = "htp.hierarchy";
inline constexpr llvm::StringLiteral kIRVersionKey = "htp.ir_version";
inline constexpr llvm::StringLiteral kStorageKey = "htp.storage";
inline constexpr llvm::StringLiteral kTorchNNKey = "htp.torch_nn";

// Keys of a node.
inline constexpr llvm::StringLiteral kTagKey = "htp.tag";
inline constexpr llvm::StringLiteral kScopeKey = "htp.scope";
/// With TagStorage::Compact, instead of both: the module's number in the tree.
inline constexpr llvm::StringLiteral kIdKey = "htp.id";
inline constexpr llvm::StringLiteral kCallKey = "htp.call";
inline constexpr llvm::StringLiteral kEvidenceKey = "htp.evidence";
inline constexpr llvm::StringLiteral kConfidenceKey = "htp.confidence";
inline constexpr llvm::StringLiteral kContextsKey = "htp.contexts";
inline constexpr llvm::StringLiteral kReasonKey = "htp.reason";
/// The keys of other tools that HTP added, separated by commas.
inline constexpr llvm::StringLiteral kAddedKey = "htp.added";

/// Key of an initializer or an input: the tags of the modules that read it.
inline constexpr llvm::StringLiteral kTagsKey = "htp.tags";

/// Key of an outlined graph: the types of all values before outlining.
inline constexpr llvm::StringLiteral kValueInfoKey = "htp.value_info";

// Node attributes for TagStorage::Attribute.
inline constexpr llvm::StringLiteral kSourceModule = "source_module";
inline constexpr llvm::StringLiteral kHierarchyTags = "hierarchy_tags";

/// Attributes that outlining sets on calls and constants, which become metadata
/// of the same name.
inline constexpr llvm::StringLiteral kRecordKeys[] = {
    kOrderAttr,     kOriginalsAttr, kPositionsAttr,
    kConstantsAttr, kConstantAttr,  kSunkAttr};

/// In an entry of value_info: the type that the graph states, if its value has
/// another one.
inline constexpr llvm::StringLiteral kStatedType = "stated";

} // namespace htp

#endif // HTP_LIB_TARGET_TAGMETADATA_KEYS_H
