// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion between ONNX and MLIR element types. As in onnx-mlir, signed
// integers are signless and unsigned ones carry the sign in the type.

#include "HTP/Dialect/ONNX/IR/ONNX.h"

#include "mlir/IR/BuiltinTypes.h"
#include "onnx/onnx_pb.h"
#include "llvm/Support/CheckedArithmetic.h"

using namespace mlir;
using DataType = ::onnx::TensorProto;

Type htp::onnx::getElementType(int32_t dataType, MLIRContext *context) {
  auto integer = [&](unsigned width) {
    return IntegerType::get(context, width);
  };
  auto isUnsigned = [&](unsigned width) {
    return IntegerType::get(context, width, IntegerType::Unsigned);
  };
  switch (dataType) {
  case DataType::FLOAT:
    return Float32Type::get(context);
  case DataType::UINT8:
    return isUnsigned(8);
  case DataType::INT8:
    return integer(8);
  case DataType::UINT16:
    return isUnsigned(16);
  case DataType::INT16:
    return integer(16);
  case DataType::INT32:
    return integer(32);
  case DataType::INT64:
    return integer(64);
  case DataType::STRING:
    return StringType::get(context);
  case DataType::BOOL:
    return integer(1);
  case DataType::FLOAT16:
    return Float16Type::get(context);
  case DataType::DOUBLE:
    return Float64Type::get(context);
  case DataType::UINT32:
    return isUnsigned(32);
  case DataType::UINT64:
    return isUnsigned(64);
  case DataType::COMPLEX64:
    return ComplexType::get(Float32Type::get(context));
  case DataType::COMPLEX128:
    return ComplexType::get(Float64Type::get(context));
  case DataType::BFLOAT16:
    return BFloat16Type::get(context);
  case DataType::FLOAT8E4M3FN:
    return Float8E4M3FNType::get(context);
  case DataType::FLOAT8E4M3FNUZ:
    return Float8E4M3FNUZType::get(context);
  case DataType::FLOAT8E5M2:
    return Float8E5M2Type::get(context);
  case DataType::FLOAT8E5M2FNUZ:
    return Float8E5M2FNUZType::get(context);
  case DataType::UINT4:
    return isUnsigned(4);
  case DataType::INT4:
    return integer(4);
  case DataType::FLOAT4E2M1:
    return Float4E2M1FNType::get(context);
  case DataType::FLOAT8E8M0:
    return Float8E8M0FNUType::get(context);
  case DataType::UINT2:
    return isUnsigned(2);
  case DataType::INT2:
    return integer(2);
  case DataType::FLOAT6E2M3:
    return Float6E2M3FNType::get(context);
  case DataType::FLOAT6E3M2:
    return Float6E3M2FNType::get(context);
  default:
    return {};
  }
}

int32_t htp::onnx::getDataType(Type elementType) {
  // A search of 28 candidates is fast enough, and avoids a second table.
  for (int32_t dataType = DataType::DataType_MIN + 1;
       dataType <= DataType::DataType_MAX; ++dataType)
    if (getElementType(dataType, elementType.getContext()) == elementType)
      return dataType;
  return DataType::UNDEFINED;
}

unsigned htp::onnx::getElementBits(Type elementType) {
  if (auto complex = dyn_cast<ComplexType>(elementType))
    return 2 * getElementBits(complex.getElementType());
  if (!elementType.isIntOrFloat())
    return 0;
  unsigned bits = elementType.getIntOrFloatBitWidth();
  return bits == 1 || bits == 6 ? 8 : bits;
}

std::optional<uint64_t> htp::onnx::getRawSize(ShapedType type) {
  unsigned bits = getElementBits(type.getElementType());
  if (!bits || !type.hasStaticShape())
    return std::nullopt;
  uint64_t count = 1;
  for (int64_t dim : type.getShape()) {
    std::optional<uint64_t> product =
        llvm::checkedMulUnsigned<uint64_t>(count, dim);
    if (!product)
      return std::nullopt;
    count = *product;
  }
  std::optional<uint64_t> total =
      llvm::checkedMulUnsigned<uint64_t>(count, bits);
  if (!total || *total > UINT64_MAX - 7)
    return std::nullopt;
  return (*total + 7) / 8;
}
