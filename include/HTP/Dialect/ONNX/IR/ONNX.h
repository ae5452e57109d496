// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ONNX dialect.

#ifndef HTP_DIALECT_ONNX_IR_ONNX_H
#define HTP_DIALECT_ONNX_IR_ONNX_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/ExtensibleDialect.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "HTP/Dialect/ONNX/IR/ONNXDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "HTP/Dialect/ONNX/IR/ONNXTypes.h.inc"

#define GET_OP_CLASSES
#include "HTP/Dialect/ONNX/IR/ONNXOps.h.inc"

#endif // HTP_DIALECT_ONNX_IR_ONNX_H
