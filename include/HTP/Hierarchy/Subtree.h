// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A part of a module tree as a tree of its own.

#ifndef HTP_HIERARCHY_SUBTREE_H
#define HTP_HIERARCHY_SUBTREE_H

#include "HTP/Hierarchy/ModuleTree.h"

namespace htp {

/// `path` as seen from the module at `base`, or nothing if it does not lie
/// there.
std::optional<std::string> pathWithin(llvm::StringRef base,
                                      llvm::StringRef path);

/// The tree of one call of `root`: paths are relative to it, and calls are
/// counted within one call of it.
ModuleTree subtree(const ModuleTree &tree, ModuleId root);

} // namespace htp

#endif // HTP_HIERARCHY_SUBTREE_H
