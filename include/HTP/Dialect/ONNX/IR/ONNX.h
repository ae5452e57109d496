// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ONNX dialect: types, attributes and the names that the importer uses.

#ifndef HTP_DIALECT_ONNX_IR_ONNX_H
#define HTP_DIALECT_ONNX_IR_ONNX_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/ExtensibleDialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "HTP/Dialect/ONNX/IR/ONNXDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "HTP/Dialect/ONNX/IR/ONNXTypes.h.inc"

#define GET_ATTRDEF_CLASSES
#include "HTP/Dialect/ONNX/IR/ONNXAttributes.h.inc"

#define GET_OP_CLASSES
#include "HTP/Dialect/ONNX/IR/ONNXOps.h.inc"

namespace htp::onnx {

/// Attribute names that every operation may carry.
inline constexpr llvm::StringLiteral kNodeName = "onnx_node_name";
inline constexpr llvm::StringLiteral kOutputNames = "onnx_output_names";
inline constexpr llvm::StringLiteral kMetadataProps = "onnx.metadata_props";
inline constexpr llvm::StringLiteral kDocString = "onnx.doc_string";

/// An initializer is an `onnx.Constant` with this unit attribute.
inline constexpr llvm::StringLiteral kInitializer = "onnx.initializer";
/// Marks an initializer that has no name in the file, not even an empty one.
inline constexpr llvm::StringLiteral kNoName = "onnx.no_name";

/// The element type for `TensorProto::DataType` number `dataType`, or null if
/// there is no such data type.
mlir::Type getElementType(int32_t dataType, mlir::MLIRContext *context);

/// The inverse; 0 (UNDEFINED) for a type that is not in ONNX.
int32_t getDataType(mlir::Type elementType);

/// The number of bits per element in ONNX raw data: types of 2 and 4 bits are
/// packed, bool and 6-bit types take a byte. 0 for strings.
unsigned getElementBits(mlir::Type elementType);

/// The length of the raw data of a tensor, or nothing if it overflows or the
/// type has no raw form.
std::optional<uint64_t> getRawSize(mlir::ShapedType type);

} // namespace htp::onnx

#endif // HTP_DIALECT_ONNX_IR_ONNX_H
