// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packing and unpacking tensor elements bit by bit, without loss.

#include "TensorData.h"

#include "HTP/Dialect/ONNX/IR/ONNX.h"

#include "mlir/IR/BuiltinTypes.h"

#include <cassert>

using namespace mlir;
using namespace htp;
using ::onnx::TensorProto;

static_assert(llvm::endianness::native == llvm::endianness::little,
              "raw data is used in place and is little endian");

//===----------------------------------------------------------------------===//
// Typed fields
//===----------------------------------------------------------------------===//

StringRef htp::getTypedField(int32_t dataType) {
  switch (dataType) {
  case TensorProto::FLOAT:
  case TensorProto::COMPLEX64:
    return "float_data";
  case TensorProto::DOUBLE:
  case TensorProto::COMPLEX128:
    return "double_data";
  case TensorProto::INT64:
    return "int64_data";
  case TensorProto::UINT32:
  case TensorProto::UINT64:
    return "uint64_data";
  case TensorProto::STRING:
    return "string_data";
  case TensorProto::UNDEFINED:
    return "";
  default:
    return "int32_data";
  }
}

SmallVector<StringRef> htp::getUsedFields(const TensorProto &tensor) {
  SmallVector<StringRef> names;
  auto add = [&](int size, StringRef name) {
    if (size)
      names.push_back(name);
  };
  add(tensor.float_data_size(), "float_data");
  add(tensor.int32_data_size(), "int32_data");
  add(tensor.string_data_size(), "string_data");
  add(tensor.int64_data_size(), "int64_data");
  add(tensor.double_data_size(), "double_data");
  add(tensor.uint64_data_size(), "uint64_data");
  return names;
}

/// The number of raw-data bytes per int32_data or uint64_data entry. For packed
/// types, an entry holds one byte, i.e. several elements.
static unsigned getEntryBytes(int32_t dataType) {
  switch (dataType) {
  case TensorProto::INT32:
  case TensorProto::UINT32:
    return 4;
  case TensorProto::UINT64:
    return 8;
  case TensorProto::INT16:
  case TensorProto::UINT16:
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    return 2;
  default:
    return 1;
  }
}

/// Writes the low bytes of each entry. False if the high bytes of one are not
/// what `unpackTypedField` would restore.
template <typename WideT, typename FieldT>
static bool packEntries(const FieldT &field, unsigned size, bool isSigned,
                        std::string &bytes) {
  bool fits = true;
  bytes.reserve(field.size() * size);
  for (WideT entry : field) {
    uint64_t low = static_cast<uint64_t>(entry) &
                   llvm::maskTrailingOnes<uint64_t>(8 * size);
    auto restored =
        static_cast<WideT>(isSigned ? llvm::SignExtend64(low, 8 * size) : low);
    fits &= restored == entry;
    bytes.append(reinterpret_cast<const char *>(&entry), size);
  }
  return fits;
}

template <typename FieldT>
static bool copyEntries(const FieldT &field, std::string &bytes) {
  bytes.assign(reinterpret_cast<const char *>(field.data()),
               field.size() * sizeof(*field.data()));
  return true;
}

/// Whether entries are sign-extended; bools, floats and packed elements are bit
/// patterns.
static bool isSignExtended(int32_t dataType) {
  return dataType == TensorProto::INT8 || dataType == TensorProto::INT16 ||
         dataType == TensorProto::INT32;
}

bool htp::packTypedField(const TensorProto &tensor, std::string &bytes) {
  StringRef field = getTypedField(tensor.data_type());
  if (field == "float_data")
    return copyEntries(tensor.float_data(), bytes);
  if (field == "double_data")
    return copyEntries(tensor.double_data(), bytes);
  if (field == "int64_data")
    return copyEntries(tensor.int64_data(), bytes);
  unsigned size = getEntryBytes(tensor.data_type());
  if (field == "uint64_data")
    return packEntries<uint64_t>(tensor.uint64_data(), size, false, bytes);
  return packEntries<int32_t>(tensor.int32_data(), size,
                              isSignExtended(tensor.data_type()), bytes);
}

template <typename T, typename FieldT>
static void setEntries(ArrayRef<char> bytes, FieldT &field) {
  field.Resize(bytes.size() / sizeof(T), T());
  if (!bytes.empty())
    memcpy(field.mutable_data(), bytes.data(), bytes.size());
}

void htp::unpackTypedField(ArrayRef<char> bytes, TensorProto &tensor) {
  StringRef field = getTypedField(tensor.data_type());
  if (field == "float_data")
    return setEntries<float>(bytes, *tensor.mutable_float_data());
  if (field == "double_data")
    return setEntries<double>(bytes, *tensor.mutable_double_data());
  if (field == "int64_data")
    return setEntries<int64_t>(bytes, *tensor.mutable_int64_data());
  unsigned size = getEntryBytes(tensor.data_type());
  bool isSigned = isSignExtended(tensor.data_type());
  for (size_t at = 0; at + size <= bytes.size(); at += size) {
    uint64_t entry = 0;
    memcpy(&entry, bytes.data() + at, size);
    if (field == "uint64_data")
      tensor.add_uint64_data(entry);
    else
      tensor.add_int32_data(isSigned ? llvm::SignExtend64(entry, 8 * size)
                                     : entry);
  }
}

//===----------------------------------------------------------------------===//
// Dense attributes
//===----------------------------------------------------------------------===//

/// The bits of element `index` of raw data, for elements of up to 64 bits.
static uint64_t readBits(ArrayRef<char> bytes, uint64_t index, unsigned bits) {
  assert(bits <= 64 && (index + 1) * bits <= 8 * bytes.size() &&
         "the element must exist");
  uint64_t value = 0;
  if (bits < 8) {
    unsigned shift = index * bits % 8;
    auto byte = static_cast<unsigned char>(bytes[index * bits / 8]);
    return byte >> shift & ((1u << bits) - 1);
  }
  memcpy(&value, bytes.data() + index * (bits / 8), bits / 8);
  return value;
}

static void writeBits(std::string &bytes, uint64_t index, unsigned bits,
                      uint64_t value) {
  if (bits < 8)
    bytes[index * bits / 8] |= static_cast<char>(value << (index * bits % 8));
  else
    memcpy(bytes.data() + index * (bits / 8), &value, bits / 8);
}

/// Whether the last byte of packed data has bits beyond the last element.
static bool hasPadding(ArrayRef<char> bytes, uint64_t count, unsigned bits) {
  if (bits >= 8 || count * bits % 8 == 0)
    return false;
  return static_cast<unsigned char>(bytes.back()) >> (count * bits % 8);
}

DenseElementsAttr htp::packDense(RankedTensorType type, ArrayRef<char> bytes) {
  Type element = type.getElementType();
  uint64_t count = type.getNumElements();
  auto complex = dyn_cast<ComplexType>(element);
  Type scalar = complex ? complex.getElementType() : element;
  unsigned bits = htp::onnx::getElementBits(scalar);
  unsigned width = scalar.getIntOrFloatBitWidth();
  if (hasPadding(bytes, count, bits))
    return {};
  // Nearly all tensors: the attribute stores the same bytes.
  if (llvm::endianness::native == llvm::endianness::little && !complex &&
      count && width == bits && bits % 8 == 0)
    return DenseElementsAttr::getFromRawBuffer(type, bytes);
  SmallVector<APInt> values;
  for (uint64_t i = 0; i < count * (complex ? 2 : 1); ++i) {
    uint64_t value = readBits(bytes, i, bits);
    if (!llvm::isUIntN(width, value))
      return {};
    values.emplace_back(width, value);
  }
  if (!isa<FloatType>(scalar))
    return DenseElementsAttr::get(type, values);
  SmallVector<APFloat> floats;
  for (const APInt &value : values)
    floats.emplace_back(cast<FloatType>(scalar).getFloatSemantics(), value);
  if (!complex)
    return DenseElementsAttr::get(type, floats);
  SmallVector<std::complex<APFloat>> pairs;
  for (uint64_t i = 0; i < count; ++i)
    pairs.emplace_back(floats[2 * i], floats[2 * i + 1]);
  return DenseElementsAttr::get(type, pairs);
}

std::string htp::unpackDense(DenseElementsAttr dense) {
  auto type = cast<RankedTensorType>(dense.getType());
  Type element = type.getElementType();
  std::string bytes(htp::onnx::getRawSize(type).value_or(0), '\0');
  uint64_t index = 0;
  if (auto complex = dyn_cast<ComplexType>(element)) {
    unsigned bits = htp::onnx::getElementBits(complex.getElementType());
    for (const std::complex<APFloat> &value :
         dense.getValues<std::complex<APFloat>>()) {
      writeBits(bytes, index++, bits,
                value.real().bitcastToAPInt().getZExtValue());
      writeBits(bytes, index++, bits,
                value.imag().bitcastToAPInt().getZExtValue());
    }
    return bytes;
  }
  unsigned bits = htp::onnx::getElementBits(element);
  if (isa<FloatType>(element)) {
    for (const APFloat &value : dense.getValues<APFloat>())
      writeBits(bytes, index++, bits, value.bitcastToAPInt().getZExtValue());
    return bytes;
  }
  for (const APInt &value : dense.getValues<APInt>())
    writeBits(bytes, index++, bits, value.getZExtValue());
  return bytes;
}
