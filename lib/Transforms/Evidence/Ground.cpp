// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes the confidence of each ground from the measured counts, and finds
// the ground of an alignment's answer.

#include "Ground.h"

#include "HTP/Dialect/HTP/IR/Nodes.h"

#include "mlir/IR/Remarks.h"

#include <cmath>

using namespace mlir;
using namespace htp;

namespace {
struct GroundInfo {
  Evidence evidence;
  llvm::StringLiteral key;
};

/// Answers whose truth was known, and how many of them were right.
struct Count {
  unsigned right = 0, answers = 0;
};
} // namespace

static constexpr GroundInfo kGrounds[] = {
#define HTP_GROUND(name, evidence, key, meaning) {Evidence::evidence, key},
#include "Grounds.inc"
};

/// The belief from which on a place counts as sure, or as likely.
static constexpr float kSure = 0.999f, kLikely = 0.9f, kMore = 0.7f;

/// A new ground has no count until `make fit` has run.
static constexpr auto kCounts = [] {
  std::array<Count, std::size(kGrounds)> counts = {};
#define HTP_WORTH(name, right, answers)                                        \
  counts[size_t(Ground::name)] = {right, answers};
#include "Worth.inc"
  return counts;
}();

Evidence htp::evidenceOf(Ground ground) {
  return kGrounds[size_t(ground)].evidence;
}

/// Laplace's rule, rounded to thousandths and less than 1: nothing is beyond
/// doubt, and tags on the same ground are recognisable by their confidence.
double htp::worth(Ground ground) {
  auto [right, answers] = kCounts[size_t(ground)];
  double share = (right + 1.0) / (answers + 2.0);
  return std::min(std::round(share * 1000), 999.0) / 1000;
}

double htp::doubt(double confidence) {
  return std::round((1 - confidence) * 1000) / 1000;
}

/// The ground of a node's place in a reference. The reference contains the
/// model's own nodes, so that only the nodes which an optimizer created are
/// guessed.
static Ground groundInReference(const AlignedNode &node) {
  bool isOdd = node.flags.edge || node.flags.order;
  if (node.anchored)
    return Ground::ReferenceAnchored;
  if (node.best.weight >= kSure)
    return isOdd ? Ground::ReferenceSureOdd : Ground::ReferenceSure;
  return node.best.weight >= kLikely && !isOdd ? Ground::ReferenceLikely
                                               : Ground::ReferenceUnsure;
}

Ground htp::groundOf(const AlignedNode &node, bool isReference, bool ownOrder) {
  if (isReference)
    return groundInReference(node);
  auto [edge, order, kind, spread] = node.flags;
  if (node.anchored)
    return edge || order ? Ground::AnchoredOdd : Ground::Anchored;
  if (node.best.weight >= kSure)
    return order ? (edge ? Ground::SureOrderedOdd : Ground::SureOrdered)
                 : (edge ? Ground::SureOdd : Ground::Sure);
  if (order && !ownOrder)
    return Ground::Resorted;
  if (node.best.weight >= kLikely)
    return order  ? Ground::LikelyOrdered
           : edge ? Ground::LikelyOdd
                  : Ground::Likely;
  if (node.best.weight < kMore)
    return order ? Ground::TornOrdered : Ground::Torn;
  return order ? Ground::UnsureOrdered : Ground::Unsure;
}

void htp::recordGround(Operation *op, Ground ground) {
  recordGround(op, kGrounds[size_t(ground)].key);
}

void htp::recordGround(Operation *op, StringRef key) {
  if (!op->getContext()->getRemarkEngine() || !op->getNumResults())
    return;
  remark::analysis(op->getLoc(),
                   remark::RemarkOpts::name(key).category("htp-ground"))
      << remark::metric("value", getValueName(op->getResult(0)));
}
