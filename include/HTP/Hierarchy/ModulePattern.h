// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How users name modules: by path, by tag, or by a pattern of paths.

#ifndef HTP_HIERARCHY_MODULEPATTERN_H
#define HTP_HIERARCHY_MODULEPATTERN_H

#include "HTP/Hierarchy/ModuleTree.h"

namespace htp {

/// Whether `text` is a pattern, so that it may match several modules.
bool isModulePattern(llvm::StringRef text);

/// The modules that `text` names, in the order of the tree: the one at a path
/// ("encoder.layer.0"), the one with a tag ("/BertModel/BertEncoder"), or all
/// whose paths match a pattern. In a pattern "*" and "?" stay within a
/// component of the path, "**" stands for any number of components. Fails,
/// suggesting the nearest name, if nothing matches.
llvm::Expected<std::vector<ModuleId>> findModules(const ModuleTree &tree,
                                                  llvm::StringRef text);

/// The modules of a class, named with or without its Python module, in the
/// order of the tree. Fails, suggesting the nearest name, if there is none.
llvm::Expected<std::vector<ModuleId>>
findModulesOfClass(const ModuleTree &tree, llvm::StringRef className);

/// The entry of `names` that `text` is probably a misspelling of; empty if none
/// is similar.
llvm::StringRef nearestName(llvm::StringRef text,
                            llvm::ArrayRef<llvm::StringRef> names);

} // namespace htp

#endif // HTP_HIERARCHY_MODULEPATTERN_H
