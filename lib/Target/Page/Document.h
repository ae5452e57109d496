// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The JSON document that the page of `htp view` shows.

#ifndef LIB_TARGET_PAGE_DOCUMENT_H
#define LIB_TARGET_PAGE_DOCUMENT_H

#include "HTP/Target/TaggedGraph.h"

#include "llvm/Support/JSON.h"

namespace htp {

/// Writes the document, whose format is in viewer/src/model.ts. It refers to
/// modules and nodes by number and contains repeated texts once.
void writeDocument(const TaggedGraph &graph, llvm::StringRef file,
                   llvm::json::OStream &json);

} // namespace htp

#endif // LIB_TARGET_PAGE_DOCUMENT_H
