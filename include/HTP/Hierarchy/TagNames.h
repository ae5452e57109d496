// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tags of modules: /BertModel/BertEncoder/BertLayer.0/BertAttention.

#ifndef HTP_HIERARCHY_TAGNAMES_H
#define HTP_HIERARCHY_TAGNAMES_H

#include "HTP/Hierarchy/ModuleTree.h"

#include <cassert>

namespace htp {

/// The tag of every module of a tree.
///
/// A tag is "/" and the class names from the root down. A module that torch.nn
/// defines has the tag of its nearest other ancestor, unless `keepTorchNN`. If
/// several modules of one class have the same tag, or the module is an element
/// of a list, "." and the end of its path follow: as many path components as it
/// takes to tell them apart, at least one. So every module that torch.nn does
/// not define has a tag of its own.
///
/// If the class is unknown, the component is the end of the module's path: the
/// attribute's name, preceded by the list's name if it is a number. The tag of
/// a root of unknown class is "/".
class TagNames {
public:
  explicit TagNames(const ModuleTree &tree, bool keepTorchNN = false);

  llvm::StringRef operator[](ModuleId id) const {
    return tags[taggedModule(id)];
  }

  /// The module that a tag names, or nothing.
  std::optional<ModuleId> find(llvm::StringRef tag) const;

  /// The nearest module at or above `id` with a tag of its own.
  ModuleId taggedModule(ModuleId id) const {
    assert(id < owner.size() && "no such module in the tree of these tags");
    return owner[id];
  }

private:
  std::vector<ModuleId> owner;
  std::vector<std::string> tags; ///< only set for modules that own a tag
  llvm::StringMap<ModuleId> byTag;
};

} // namespace htp

#endif // HTP_HIERARCHY_TAGNAMES_H
