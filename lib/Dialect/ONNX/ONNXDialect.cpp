// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers the types, attributes and operations of the ONNX dialect.

#include "HTP/Dialect/ONNX/IR/ExternalBytes.h"
#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "HTP/Dialect/ONNX/IR/Schema.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace htp::onnx;

#include "HTP/Dialect/ONNX/IR/ONNXDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "HTP/Dialect/ONNX/IR/ONNXTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "HTP/Dialect/ONNX/IR/ONNXAttributes.cpp.inc"

#define GET_OP_CLASSES
#include "HTP/Dialect/ONNX/IR/ONNXOps.cpp.inc"

void ONNXDialect::initialize() {
  // Newer opsets have operators that the linked library does not know.
  allowUnknownOperations();
  addTypes<
#define GET_TYPEDEF_LIST
#include "HTP/Dialect/ONNX/IR/ONNXTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "HTP/Dialect/ONNX/IR/ONNXAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "HTP/Dialect/ONNX/IR/ONNXOps.cpp.inc"
      >();
  addExternalBytesInterface(*this);
  registerSchemaOps(*this);
}

StringRef ExternalAttr::lookup(StringRef key) const {
  for (ArrayAttr entry : getEntries().getAsRange<ArrayAttr>()) {
    auto strings = entry.getAsRange<StringAttr>();
    if (llvm::range_size(strings) == 2 && (*strings.begin()).getValue() == key)
      return (*std::next(strings.begin())).getValue();
  }
  return "";
}
