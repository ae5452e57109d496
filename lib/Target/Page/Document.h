// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef LIB_TARGET_PAGE_DOCUMENT_H
#define LIB_TARGET_PAGE_DOCUMENT_H

#include "HTP/Target/TaggedGraph.h"

#include "llvm/Support/JSON.h"

namespace htp {

/// Writes all that the page shows (viewer/src/model.ts). Modules and nodes are
/// numbers in it, texts that repeat are told once.
void writeDocument(const TaggedGraph &graph, llvm::StringRef file,
                   llvm::json::OStream &json);

} // namespace htp

#endif // LIB_TARGET_PAGE_DOCUMENT_H
