// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Restricts transform schedules and PDL patterns to chosen modules: ops for
// MLIR's transform dialect, and constraints for PDL.

#ifndef HTP_DIALECT_HTP_TRANSFORMOPS_HTPTRANSFORMOPS_H
#define HTP_DIALECT_HTP_TRANSFORMOPS_HTPTRANSFORMOPS_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Transform/Interfaces/MatchInterfaces.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"

#define GET_OP_CLASSES
#include "HTP/Dialect/HTP/TransformOps/HTPTransformOps.h.inc"

namespace htp {

/// Adds `transform.htp.…` to the transform dialect, and the constraints below
/// to the patterns of `transform.with_pdl_patterns`.
void registerTransformDialectExtension(mlir::DialectRegistry &registry);

/// Registers the constraints with `patterns`:
///
///   HTPInModule(op, "encoder.layer.*")             a path, a tag or a pattern
///   HTPInModuleOfClass(op, "BertSelfAttention")    a class
///
/// ModuleConstraints.pdll declares them for PDLL. A name that matches no module
/// is a warning. The constraints read the model's `htp.hierarchy`, so patterns
/// must not modify it while others are being matched.
void registerModuleConstraints(mlir::PDLPatternModule &patterns);

/// The same as a table, for callers that register constraints themselves.
llvm::StringMap<mlir::PDLConstraintFunction> moduleConstraints();

} // namespace htp

#endif // HTP_DIALECT_HTP_TRANSFORMOPS_HTPTRANSFORMOPS_H
