// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the schema's inference function on a single exported node.

#include "HTP/Target/ONNX/OpInference.h"

#include "HTP/Dialect/ONNX/IR/Schema.h"
#include "OnnxMlirFunctions.h"
#include "Types.h"

#include "onnx/defs/schema.h"
#include "onnx/shape_inference/implementation.h"

using namespace mlir;
using namespace htp;
using ::onnx::NodeProto;
using ::onnx::TensorProto;
using ::onnx::TypeProto;

static TensorProto exportNumbers(DenseElementsAttr elements) {
  TensorProto tensor;
  Type element = elements.getElementType();
  tensor.set_data_type(htp::onnx::getDataType(element));
  for (int64_t size : elements.getType().getShape())
    tensor.add_dims(size);
  bool isLong = element.isInteger(64);
  for (const APInt &value : elements.getValues<APInt>()) {
    int64_t number =
        element.isInteger(1) ? value.getBoolValue() : value.getSExtValue();
    if (isLong)
      tensor.add_int64_data(number);
    else
      tensor.add_int32_data(static_cast<int32_t>(number));
  }
  return tensor;
}

SmallVector<Type> htp::inferTypes(Operation *op,
                                  ArrayRef<DenseElementsAttr> known) {
  SmallVector<Type> inferred(op->getNumResults());
  const ::onnx::OpSchema *schema = htp::onnx::findSchema(op);
  if (!schema || op->getNumRegions())
    return inferred;
  NodeProto node;
  std::vector<TypeProto> types;
  if (failed(exportShell(op, node, types)))
    return inferred;
  std::unordered_map<std::string, TypeProto *> typesByName;
  std::unordered_map<std::string, const TensorProto *> knownByName;
  std::vector<TensorProto> tensors(known.size());
  for (auto [index, type] : llvm::enumerate(types)) {
    if (type.value_case() == TypeProto::VALUE_NOT_SET)
      continue;
    typesByName[node.input(index)] = &type;
    if (known[index]) {
      tensors[index] = exportNumbers(known[index]);
      knownByName[node.input(index)] = &tensors[index];
    }
  }
  try {
    ::onnx::ShapeInferenceOptions options;
    ::onnx::shape_inference::InferenceContextImpl inference(
        node, typesByName, knownByName, {}, options);
    schema->GetTypeAndShapeInferenceFunction()(inference);
    std::string error;
    for (auto [index, type] : llvm::enumerate(inferred))
      type =
          importType(*inference.getOutputType(index), op->getContext(), error);
  } catch (const std::exception &) {
    return SmallVector<Type>(op->getNumResults());
  }
  return inferred;
}
