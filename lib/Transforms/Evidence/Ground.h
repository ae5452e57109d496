// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Grounds on which a node is assigned to a module, and how often answers on
// each ground are right.

#ifndef HTP_LIB_TRANSFORMS_EVIDENCE_GROUND_H
#define HTP_LIB_TRANSFORMS_EVIDENCE_GROUND_H

#include "HTP/Alignment/Alignment.h"
#include "HTP/Dialect/HTP/IR/HTP.h"

namespace htp {

enum class Ground : uint8_t {
#define HTP_GROUND(name, evidence, key, meaning) name,
#include "Grounds.inc"
};

/// The kind of evidence in tags on this ground.
Evidence evidenceOf(Ground ground);

/// The share of answers on this ground that were right where that was counted
/// (Worth.inc), between 0 and 1. Where few were, that says less: the share of
/// none is a half.
double worth(Ground ground);

/// A tag with at most this confidence is overruled by an alignment that
/// contradicts it.
inline constexpr double kGivesWay = 0.5;

/// 1 - confidence, without rounding noise.
double doubt(double confidence);

/// The ground of a node's place in an alignment with a trace, or with a
/// reference; `ownOrder` says whether the order of the file was that of
/// execution.
Ground groundOf(const AlignedNode &node, bool isReference, bool ownOrder);

/// Says in a remark of the category `htp-ground`, if anybody asked for those,
/// on what ground `op` got its tag: `make fit` counts them.
void recordGround(mlir::Operation *op, Ground ground);
/// The same for one that has no count: a pattern of a plugin, a user's word.
void recordGround(mlir::Operation *op, llvm::StringRef key);

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_EVIDENCE_GROUND_H
