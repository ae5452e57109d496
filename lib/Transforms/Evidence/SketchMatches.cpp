// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decodes the weights of a graph to floats, and looks up the parameters that
// they hold by their sketches.

#include "SketchMatches.h"

#include "HTP/Dialect/HTP/IR/Nodes.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace htp;

static std::optional<StoredType> storedType(Type type) {
  if (type.isF64())
    return StoredType::Float64;
  if (type.isF32())
    return StoredType::Float32;
  if (type.isF16())
    return StoredType::Float16;
  if (type.isBF16())
    return StoredType::BFloat16;
  if (isa<Float8E4M3FNType>(type))
    return StoredType::Float8E4M3FN;
  if (isa<Float8E4M3FNUZType>(type))
    return StoredType::Float8E4M3FNUZ;
  if (isa<Float8E5M2Type>(type))
    return StoredType::Float8E5M2;
  if (isa<Float8E5M2FNUZType>(type))
    return StoredType::Float8E5M2FNUZ;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return std::nullopt;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 32:
    return isUnsigned ? std::nullopt : std::optional(StoredType::Int32);
  case 16:
    return isUnsigned ? StoredType::UInt16 : StoredType::Int16;
  case 8:
    return isUnsigned ? StoredType::UInt8 : StoredType::Int8;
  case 4:
    return isUnsigned ? StoredType::UInt4 : StoredType::Int4;
  default:
    return std::nullopt;
  }
}

/// The contents of a constant. They are in `storage` if they had to be created.
static std::optional<StoredTensor> contentsOf(Value value,
                                              SmallVectorImpl<char> &storage) {
  Operation *op = value ? value.getDefiningOp() : nullptr;
  auto tensor = op && op->getNumOperands() == 0
                    ? dyn_cast_or_null<TypedAttr>(op->getAttr("value"))
                    : TypedAttr();
  auto type = tensor ? dyn_cast<ShapedType>(tensor.getType()) : ShapedType();
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  std::optional<StoredType> element = storedType(type.getElementType());
  if (!element)
    return std::nullopt;
  std::optional<ArrayRef<char>> bytes = getTensorBytes(tensor, storage);
  if (!bytes)
    return std::nullopt;
  // MLIR's own constants use a whole byte for an element of less than 8 bits.
  // ONNX packs two elements into a byte.
  if (bitsOf(*element) < 8 && isa<DenseElementsAttr>(tensor)) {
    SmallVector<char, 0> nibbles((bytes->size() + 1) / 2);
    for (auto [i, byte] : llvm::enumerate(*bytes))
      nibbles[i / 2] |= (byte & 0xF) << (i % 2 * 4);
    storage.assign(nibbles.begin(), nibbles.end());
    bytes = ArrayRef<char>(storage);
  }
  StoredTensor contents;
  contents.bytes = *bytes;
  contents.type = *element;
  contents.shape.assign(type.getShape().begin(), type.getShape().end());
  return contents;
}

namespace {

/// A reader that also owns the bytes: constants of a few elements may have none
/// of their own.
struct OwningReader : WeightReader {
  using Storage = SmallVector<char, 0>;

  OwningReader(std::unique_ptr<WeightReader> reader, Storage storage)
      : WeightReader(reader->shape()), reader(std::move(reader)),
        storage(std::move(storage)) {}
  void read(int64_t row, MutableArrayRef<float> values) const override {
    reader->read(row, values);
  }

  std::unique_ptr<WeightReader> reader;
  Storage storage;
};

} // namespace

static int64_t integerAttribute(Operation *op, StringRef name,
                                int64_t otherwise) {
  auto attribute = op->getAttrOfType<IntegerAttr>(name);
  return attribute && attribute.getValue().getSignificantBits() <= 64
             ? attribute.getValue().getSExtValue()
             : otherwise;
}

static Value operand(Operation *op, unsigned index) {
  return index < op->getNumOperands() ? op->getOperand(index) : Value();
}

/// The scales and zero points of an operator, if they are constants.
struct Quantization {
  SmallVector<char, 0> scaleBytes, zeroBytes;
  std::optional<StoredTensor> scales, zeros;
  bool isBroken = false;

  Quantization(Value scale, Value zeroPoint) {
    scales = contentsOf(scale, scaleBytes);
    zeros = contentsOf(zeroPoint, zeroBytes);
    // A zero point that exists but cannot be read must not count as 0.
    bool missing = !zeroPoint || !zeroPoint.getDefiningOp() ||
                   isa<NoneType>(zeroPoint.getType());
    isBroken = !scales || (!zeros && !missing);
  }
};

static std::unique_ptr<WeightReader>
dequantized(Operation *op, StoredTensor data, std::string &why) {
  Quantization how(operand(op, 1), operand(op, 2));
  if (how.isBroken)
    return nullptr;
  return WeightReader::dequantized(std::move(data), *how.scales, how.zeros,
                                   integerAttribute(op, "axis", 1),
                                   integerAttribute(op, "block_size", 0), &why);
}

/// Reads the weight of an operator like MatMulNBits. Its attributes say how the
/// elements of a few bits are packed: in N rows of K.
static std::unique_ptr<WeightReader> unpacked(Operation *op, StoredTensor data,
                                              std::string &why) {
  Quantization how(operand(op, 2), operand(op, 3));
  if (how.isBroken)
    return nullptr;
  WeightReader::Packing packing;
  packing.rows = integerAttribute(op, "N", 0);
  packing.columns = integerAttribute(op, "K", 0);
  packing.bits = integerAttribute(op, "bits", 4);
  packing.block = integerAttribute(op, "block_size", 0);
  return WeightReader::packed(packing, std::move(data), *how.scales, how.zeros,
                              &why);
}

/// Reads a table like that of GatherBlockQuantized, which is quantized in
/// blocks along its last axis.
static std::unique_ptr<WeightReader>
blocksOfTable(Operation *op, StoredTensor data, std::string &why) {
  Quantization how(operand(op, 2), operand(op, 3));
  int64_t rank = data.shape.size(),
          axis = integerAttribute(op, "quantize_axis", 1),
          bits = integerAttribute(op, "bits", 4);
  if (how.isBroken || rank != 2 || (axis != 1 && axis != -1))
    return nullptr;
  if (bits <= 0 || bits > 8) {
    why = llvm::formatv("elements of {0} bits", bits);
    return nullptr;
  }
  // An element of 8 bits holds several packed values, an element of a 4-bit
  // type holds one.
  WeightReader::Packing packing;
  packing.rows = data.shape[0];
  packing.bits = bitsOf(data.type) == 8 ? bits : bitsOf(data.type);
  packing.columns = data.shape[1] * bitsOf(data.type) / packing.bits;
  packing.block = integerAttribute(op, "block_size", 128);
  if (packing.block > 0 && packing.columns % packing.block)
    return nullptr;
  return WeightReader::packed(packing, std::move(data), *how.scales, how.zeros,
                              &why);
}

std::unique_ptr<WeightReader> htp::weightReader(Value constant) {
  SmallVector<char, 0> storage;
  std::optional<StoredTensor> data = contentsOf(constant, storage);
  if (!data)
    return nullptr;
  std::unique_ptr<WeightReader> reader;
  bool isRead = false;
  for (OpOperand &use : constant.getUses()) {
    Operation *op = use.getOwner();
    StringRef type = getOpType(op);
    unsigned number = use.getOperandNumber();
    std::string why;
    if (type == "DequantizeLinear" && number == 0)
      reader = dequantized(op, *data, why);
    else if (type.ends_with("NBits") && number == 1)
      reader = unpacked(op, *data, why);
    else if (type.ends_with("BlockQuantized") && number == 0)
      reader = blocksOfTable(op, *data, why);
    else
      continue;
    isRead = true;
    if (!why.empty())
      op->emitWarning("quantized weights that cannot be read: ") << why;
    break;
  }
  // Operators on integers scale whole rows, which does not change a sketch:
  // read the integers as they are.
  if (!isRead)
    reader = WeightReader::plain(*data);
  if (!reader || storage.empty())
    return reader;
  return std::make_unique<OwningReader>(std::move(reader), std::move(storage));
}

//===----------------------------------------------------------------------===//
// Matches
//===----------------------------------------------------------------------===//

SketchMatches::SketchMatches(const ModuleTree &tree) {
  int32_t number = 0;
  for (const Module &module : tree.all())
    for (const Parameter &parameter : module.parameters) {
      bool isFirst =
          parameter.tied.empty() && &tree[module.canonical] == &module;
      if (isFirst && !parameter.sketch.empty())
        if (auto sketch = Sketch::parse(parameter.sketch, parameter.shape))
          index.add(number, std::move(*sketch));
      ++number;
    }
}

ArrayRef<SketchMatch> SketchMatches::find(Value constant) {
  if (index.empty())
    return {};
  auto [entry, isNew] = found.try_emplace(constant);
  if (!isNew)
    return entry->second;
  std::unique_ptr<WeightReader> reader = weightReader(constant);
  if (!reader || !index.mayHold(reader->shape()))
    return {};
  auto matches = index.find(*reader);
  ++numCompared;
  numRecognised += !matches.empty();
  return found[constant] = std::move(matches);
}
