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

LogicalResult htp::onnx::verifyNote(Operation *op, NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (!name.consume_front("onnx."))
    return success();
  auto check = [&](bool isElement(Attribute), StringRef what) -> LogicalResult {
    auto list = dyn_cast<ArrayAttr>(attribute.getValue());
    if (list && llvm::all_of(list, isElement))
      return success();
    return op->emitOpError("attribute '")
           << attribute.getName().getValue() << "' must be an array of " << what
           << ", found " << attribute.getValue();
  };
  if (name == "opset_import" || name == "graphs" || name == "attributes" ||
      name == "attribute_proto")
    return check([](Attribute element) { return isa<DictionaryAttr>(element); },
                 "dictionaries");
  if (name == "attribute_order" || name == "initializer_order")
    return check([](Attribute element) { return isa<StringAttr>(element); },
                 "strings");
  return success();
}

LogicalResult ONNXDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  return verifyNote(op, attribute);
}

LogicalResult
ExternalAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError,
                     ShapedType type, ArrayAttr entries) {
  auto isPair = [](Attribute entry) {
    auto pair = dyn_cast<ArrayAttr>(entry);
    return pair && pair.size() == 2 &&
           llvm::all_of(pair, llvm::IsaPred<StringAttr>);
  };
  if (llvm::all_of(entries, isPair))
    return success();
  return emitError() << "expected pairs of strings, found " << entries;
}

StringRef ExternalAttr::lookup(StringRef key) const {
  for (ArrayAttr entry : getEntries().getAsRange<ArrayAttr>()) {
    auto strings = entry.getAsRange<StringAttr>();
    if (llvm::range_size(strings) == 2 && (*strings.begin()).getValue() == key)
      return (*std::next(strings.begin())).getValue();
  }
  return "";
}
