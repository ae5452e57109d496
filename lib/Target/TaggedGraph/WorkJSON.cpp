// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HTP/Target/WorkJSON.h"
#include "HTP/Target/TaggedGraph.h"

#include "mlir/IR/BuiltinAttributes.h"

using namespace mlir;
using namespace htp;

void htp::writeTensorType(TensorType tensor, llvm::json::OStream &json) {
  std::string element;
  llvm::raw_string_ostream(element) << tensor.getElementType();
  json.value(element);
  if (!tensor.hasRank())
    return json.value(nullptr);
  json.array([&] {
    for (int64_t size : tensor.getShape())
      if (ShapedType::isDynamic(size))
        json.value(nullptr);
      else
        json.value(size);
  });
}

bool htp::isTelling(NamedAttribute named) {
  StringRef name = named.getName();
  if (name.starts_with("onnx_") || name.contains('.'))
    return false;
  auto isNumber = [](Attribute value) {
    auto number = dyn_cast<IntegerAttr>(value);
    return number && number.getValue().getBitWidth() <= 64;
  };
  auto list = dyn_cast<ArrayAttr>(named.getValue());
  return isa<StringAttr>(named.getValue()) || isNumber(named.getValue()) ||
         (list && llvm::all_of(list, isNumber));
}

static int64_t getNumber(Attribute value) {
  return cast<IntegerAttr>(value).getValue().getSExtValue();
}

void htp::writeTelling(NamedAttribute named, llvm::json::OStream &json) {
  StringRef name = named.getName();
  Attribute value = named.getValue();
  if (auto text = dyn_cast<StringAttr>(value))
    return json.attribute(name, validUTF8(text));
  auto list = dyn_cast<ArrayAttr>(value);
  if (!list)
    return json.attribute(name, getNumber(value));
  json.attributeArray(name, [&] {
    for (Attribute number : list)
      json.value(getNumber(number));
  });
}
