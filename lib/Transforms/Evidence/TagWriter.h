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
  /// For tags of the modules of a tree of this size.
  explicit TagWriter(size_t modules) : lastOf(modules) {}

  /// A tag. Ops of one module mostly get equal ones.
  TagAttr make(ModuleId module, mlir::StringAttr path, int64_t call,
               Evidence evidence, double confidence,
               llvm::StringRef reason = {});

  /// The same as setTag.
  void write(mlir::Operation *op, TagAttr tag,
             llvm::ArrayRef<mlir::Location> sources = {});

private:
  /// A tag, and what the last op that got it had then.
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
