// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The HTP dialect: the module tree of a model, and the tags that refer to it.

#ifndef HTP_DIALECT_HTP_IR_HTP_H
#define HTP_DIALECT_HTP_IR_HTP_H

#include "HTP/Hierarchy/ModuleTree.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "HTP/Dialect/HTP/IR/HTPDialect.h.inc"

#include "HTP/Dialect/HTP/IR/HTPEnums.h.inc"

#define GET_TYPEDEF_CLASSES
#include "HTP/Dialect/HTP/IR/HTPTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "HTP/Dialect/HTP/IR/HTPAttributes.h.inc"

namespace htp {

/// Parameters of a module as an array of #htp.parameter, and back. The way back
/// fails if the attribute is not such an array, with an error if `emitError` is
/// given.
mlir::Attribute parametersToAttribute(mlir::MLIRContext *context,
                                      llvm::ArrayRef<Parameter> parameters);
mlir::LogicalResult parametersFromAttribute(
    std::vector<Parameter> &parameters, mlir::Attribute attribute,
    llvm::function_ref<mlir::InFlightDiagnostic()> emitError);
llvm::hash_code hashParameters(llvm::ArrayRef<Parameter> parameters);

} // namespace htp

#define GET_OP_CLASSES
#include "HTP/Dialect/HTP/IR/HTPOps.h.inc"

namespace htp {

/// The names of HTP's discardable attributes.
inline constexpr llvm::StringLiteral kTagAttr = "htp.tag";
inline constexpr llvm::StringLiteral kParameterAttr = "htp.parameter";
inline constexpr llvm::StringLiteral kUsersAttr = "htp.users";
/// On an `htp.hierarchy`: tags written to files include torch.nn classes.
inline constexpr llvm::StringLiteral kTorchNNTagsAttr = "htp.torch_nn_tags";
/// On an `htp.hierarchy`: what program wrote the trace that the tree came from
/// (a dictionary), and how well traces and references fit the model (an array
/// of dictionaries).
inline constexpr llvm::StringLiteral kProducerAttr = "htp.producer";
inline constexpr llvm::StringLiteral kFitAttr = "htp.fit";
/// A note from --htp-attach-hierarchy to --htp-align-trace: how many parameters
/// of the trace were found in the model, and how many the trace has.
inline constexpr llvm::StringLiteral kMatchedAttr = "htp.matched";

/// The tag of an operation, or null.
inline TagAttr getTag(mlir::Operation *op) {
  // No operation has it as a property, so only the discardable attributes need
  // be searched.
  return llvm::dyn_cast_or_null<TagAttr>(op->getDiscardableAttr(kTagAttr));
}

/// Sets the tag of an operation and the same scope in its location, together
/// with the lines of Python code that it came from, if known.
void setTag(mlir::Operation *op, TagAttr tag,
            llvm::ArrayRef<mlir::Location> sources = {});

} // namespace htp

#endif // HTP_DIALECT_HTP_IR_HTP_H
