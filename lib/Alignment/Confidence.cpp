// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HTP/Alignment/Confidence.h"

#include "llvm/ADT/StringSwitch.h"

using namespace htp;

// Shares of right answers; see the header for where they come from.
static constexpr double kAnchored[] = {0.999, 0.99, 0.95};
static constexpr double kAligned[] = {0.997, 0.96, 0.85, 0.7};

double htp::alignedConfidence(const AlignedNode &node) {
  unsigned flags = node.flags.count();
  if (node.anchored)
    return kAnchored[std::min<size_t>(flags, std::size(kAnchored) - 1)];
  return kAligned[std::min<size_t>(flags, std::size(kAligned) - 1)];
}

double htp::evidenceConfidence(llvm::StringRef evidence) {
  return llvm::StringSwitch<double>(evidence)
      .Case("override", 1.0)
      .Case("metadata", 0.999)
      .Case("name", 0.999)
      .Case("value-name", 0.995)
      .Case("parameter", 0.99)
      .Case("location", 0.99)
      .Case("producer", 0.85)
      .Case("consumer", 0.8)
      .Case("ancestor", 0.5)
      .Default(0.5);
}
