// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Creates tags and writes them on many ops in program order. What neighbouring
// ops share is cached here instead of being uniqued again for each op.

#ifndef HTP_LIB_TRANSFORMS_EVIDENCE_TAGWRITER_H
#define HTP_LIB_TRANSFORMS_EVIDENCE_TAGWRITER_H

#include "HTP/Dialect/HTP/IR/HTP.h"
#include "HTP/Hierarchy/ModuleTree.h"

#include <array>

namespace htp {

class TagWriter {
public:
  /// `modules` is the size of the tree that the tags refer to.
  explicit TagWriter(size_t modules) : lastOf(modules) {}

  /// Makes a tag. Ops of one module mostly get equal tags, so the last tag of
  /// each module is cached.
  TagAttr make(ModuleId module, mlir::StringAttr path, int64_t call,
               Evidence evidence, double confidence,
               llvm::StringRef reason = {});

  /// Does the same as setTag, faster.
  void write(mlir::Operation *op, TagAttr tag,
             llvm::ArrayRef<mlir::Location> sources = {});

private:
  /// A tag, with the attributes and the location of the last op that got it.
  struct Written {
    TagAttr tag;
    mlir::DictionaryAttr attributes;
    mlir::LocationAttr loc;
  };

  std::vector<TagAttr> lastOf;    ///< by module
  std::array<Written, 4> written; ///< most recent first
};

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_EVIDENCE_TAGWRITER_H
