// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HTP/Dialect/ONNX/IR/ONNX.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace htp::onnx;

#include "HTP/Dialect/ONNX/IR/ONNXDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "HTP/Dialect/ONNX/IR/ONNXTypes.cpp.inc"

#define GET_OP_CLASSES
#include "HTP/Dialect/ONNX/IR/ONNXOps.cpp.inc"

void ONNXDialect::initialize() {
  allowUnknownOperations();
  addTypes<
#define GET_TYPEDEF_LIST
#include "HTP/Dialect/ONNX/IR/ONNXTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "HTP/Dialect/ONNX/IR/ONNXOps.cpp.inc"
      >();
}
