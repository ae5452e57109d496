// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On what ground a node is said to belong to a module, and how often answers on
// that ground are right.

#ifndef HTP_LIB_TRANSFORMS_EVIDENCE_GROUND_H
#define HTP_LIB_TRANSFORMS_EVIDENCE_GROUND_H

#include "HTP/Alignment/Alignment.h"
#include "HTP/Dialect/HTP/IR/HTP.h"

namespace htp {

enum class Ground : uint8_t {
#define HTP_GROUND(name, evidence, key, meaning) name,
#include "Grounds.inc"
};

/// The evidence that a tag on this ground names.
Evidence evidenceOf(Ground ground);

/// The share of answers on this ground that were right where that was counted
/// (Worth.inc), between 0 and 1. Where few were, that says less: the share of
/// none is a half.
double worth(Ground ground);

/// Up to this confidence a tag gives way to an alignment that says otherwise.
inline constexpr double kGivesWay = 0.5;

/// What an answer of this confidence leaves to all others, without the noise of
/// the subtraction.
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
