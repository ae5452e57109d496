// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The grounds on which a node is assigned to a module, and how often the
// answers on each ground are right.

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

/// The share of right answers on this ground, between 0 and 1, as counted in
/// Worth.inc. Few answers keep it close to one half, which is what a ground
/// without any answers is worth.
double worth(Ground ground);

/// A tag with at most this confidence is overruled by an alignment that
/// contradicts it.
inline constexpr double kGivesWay = 0.5;

/// 1 - confidence, without rounding noise.
double doubt(double confidence);

/// The ground of a node's place in an alignment with a trace, or with a
/// reference. `ownOrder` is Alignment::ownOrder.
Ground groundOf(const AlignedNode &node, bool isReference, bool ownOrder);

/// Emits a remark of the category `htp-ground`, if such remarks are enabled,
/// with the ground on which `op` got its tag. `make fit` counts them.
void recordGround(mlir::Operation *op, Ground ground);
/// The same for a ground without a count: a plugin's pattern, or a decision of
/// the user.
void recordGround(mlir::Operation *op, llvm::StringRef key);

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_EVIDENCE_GROUND_H
