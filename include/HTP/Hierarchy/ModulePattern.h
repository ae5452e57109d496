// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How people name modules: by path, by tag, or by a pattern of paths.

#ifndef HTP_HIERARCHY_MODULEPATTERN_H
#define HTP_HIERARCHY_MODULEPATTERN_H

#include "HTP/Hierarchy/ModuleTree.h"

namespace htp {

/// Whether `text` is a pattern, and may name several modules.
bool isModulePattern(llvm::StringRef text);

/// The modules that `text` names, in the order of the tree: the one at a path
/// ("encoder.layer.0"), the one with a tag ("/BertModel/BertEncoder"), or all
/// whose paths match a pattern. In a pattern "*" and "?" stay within a
/// component of the path, "**" stands for any number of components. Fails where
/// there is none, and suggests the nearest name.
llvm::Expected<std::vector<ModuleId>> findModules(const ModuleTree &tree,
                                                  llvm::StringRef text);

/// The modules of a class, named with or without its Python module, in the
/// order of the tree. Fails where there is none, and suggests the nearest name.
llvm::Expected<std::vector<ModuleId>>
findModulesOfClass(const ModuleTree &tree, llvm::StringRef className);

/// Of `names` the one that `text` was probably meant to be; empty if none is
/// similar.
llvm::StringRef nearestName(llvm::StringRef text,
                            llvm::ArrayRef<llvm::StringRef> names);

} // namespace htp

#endif // HTP_HIERARCHY_MODULEPATTERN_H
