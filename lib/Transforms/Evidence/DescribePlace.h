// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Describes in words why the alignment placed a node where it did.

#ifndef HTP_LIB_TRANSFORMS_EVIDENCE_DESCRIBEPLACE_H
#define HTP_LIB_TRANSFORMS_EVIDENCE_DESCRIBEPLACE_H

#include "HTP/Alignment/Alignment.h"
#include "HTP/Alignment/Graph.h"
#include "HTP/Hierarchy/ModuleTree.h"

#include <string>

namespace htp {

/// A few lines of text: the steps of the program that the node may have come
/// from, the best first, with the reasons for the first and what the others
/// lack. `source` is the name of the program: "the trace 'x'".
std::string describe(const Explanation &explanation, const AlignedNode &node,
                     const Graph &graph, const Program &program,
                     const ModuleTree &tree, llvm::StringRef source);

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_EVIDENCE_DESCRIBEPLACE_H
