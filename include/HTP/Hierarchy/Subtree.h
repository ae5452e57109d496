// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Extracts the subtree below one module as a tree of its own.

#ifndef HTP_HIERARCHY_SUBTREE_H
#define HTP_HIERARCHY_SUBTREE_H

#include "HTP/Hierarchy/ModuleTree.h"

namespace htp {

/// `path` relative to the module at `base`, or nothing if it is not below it.
std::optional<std::string> pathWithin(llvm::StringRef base,
                                      llvm::StringRef path);

/// The tree of one call of `root`: paths are relative to `root`, and `calls`
/// counts the calls during one call of it.
ModuleTree subtree(const ModuleTree &tree, ModuleId root);

} // namespace htp

#endif // HTP_HIERARCHY_SUBTREE_H
