// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints ONNX ops in the torch dialect's text form, and rejects what IREE's
// importer does not support.

#include "TorchText.h"

#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "HTP/Dialect/ONNX/IR/Schema.h"

#include "mlir/IR/AsmState.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace htp;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

/// The torch dialect distinguishes signed and unsigned integers; signless ones
/// are signed here.
static Type withSign(Type elementType) {
  auto integer = dyn_cast<IntegerType>(elementType);
  if (!integer || !integer.isSignless() || integer.getWidth() == 1)
    return elementType;
  return IntegerType::get(integer.getContext(), integer.getWidth(),
                          IntegerType::Signed);
}

std::string htp::torchElement(Type elementType) {
  return print(withSign(elementType));
}

/// The type of a tensor passed between files, where integers are signless.
static RankedTensorType withoutSign(RankedTensorType type) {
  auto integer = dyn_cast<IntegerType>(type.getElementType());
  return integer ? type.clone(
                       IntegerType::get(type.getContext(), integer.getWidth()))
                 : type;
}

static InFlightDiagnostic errorAt(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    op = value.getParentBlock()->getParentOp();
  InFlightDiagnostic error = op->emitError();
  if (StringRef name = getValueName(value); !name.empty())
    error << "value '" << name << "' ";
  else
    error << "a value ";
  return error;
}

FailureOr<std::string> TorchText::typeOf(Value value) {
  Type type = value.getType();
  if (isa<NoneType>(type)) {
    Operation *op = value.getDefiningOp();
    if (value.use_empty() || (op && isAbsentValue(op)))
      return std::string("!torch.none");
    return errorAt(value) << "has no known type, which IREE needs";
  }
  auto tensor = dyn_cast<TensorType>(type);
  if (!tensor ||
      !isa<FloatType, IntegerType, ComplexType>(tensor.getElementType()))
    return errorAt(value) << "has type " << type
                          << ", which IREE does not support";
  std::string shape = "*";
  if (tensor.hasRank()) {
    shape = "[";
    for (int64_t size : tensor.getShape())
      shape += (shape.size() > 1 ? "," : "") +
               (ShapedType::isDynamic(size) ? "?" : std::to_string(size));
    shape += "]";
  }
  return "!torch.vtensor<" + shape + "," +
         torchElement(tensor.getElementType()) + ">";
}

FailureOr<std::string> TorchText::builtinTypeOf(Value value) {
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (!tensor)
    return errorAt(value) << "has type " << value.getType()
                          << "; between files of IREE the number of "
                             "dimensions must be known";
  if (failed(typeOf(value)))
    return failure();
  return print(withoutSign(tensor));
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// The contents of a tensor as elements, wherever they are stored; null if they
/// are unavailable.
static Attribute readElements(Attribute value) {
  auto typed = dyn_cast<TypedAttr>(value);
  auto type = typed ? dyn_cast<ShapedType>(typed.getType()) : ShapedType();
  if (!type)
    return {};
  Type element = type.getElementType();
  auto signedType = RankedTensorType::get(type.getShape(), withSign(element));
  if (element.isInteger(1))
    if (auto dense = dyn_cast<DenseElementsAttr>(value))
      return dense;
  SmallVector<char> storage;
  auto bytes = getTensorBytes(value, storage);
  if (!bytes)
    return {};
  if (element.isInteger(1)) {
    SmallVector<bool> bits(bytes->begin(), bytes->end());
    return DenseElementsAttr::get(signedType, bits);
  }
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8)
    return {};
  size_t size = element.getIntOrFloatBitWidth() / 8;
  if (bytes->size() != size * size_t(type.getNumElements()))
    return {};
  return DenseElementsAttr::getFromRawBuffer(signedType, *bytes);
}

/// Prints elements. Bools are printed one by one, as the hex form that MLIR
/// uses for large tensors packs them differently in different versions.
static void printElements(Attribute elements, llvm::raw_ostream &os) {
  if (!cast<DenseElementsAttr>(elements).getElementType().isInteger(1)) {
    os << elements;
    return;
  }
  AsmState state(elements.getContext(),
                 OpPrintingFlags().printLargeElementsAttrWithHex(-1));
  elements.print(os, state);
}

LogicalResult TorchText::writeAttribute(Operation *op, Attribute value) {
  auto writeList = [&](auto elements, auto writeElement) {
    os << '[';
    llvm::interleaveComma(elements, os, writeElement);
    os << ']';
    return success();
  };
  return llvm::TypeSwitch<Attribute, LogicalResult>(value)
      .Case([&](IntegerAttr integer) {
        integer.getValue().print(os, !integer.getType().isUnsignedInteger());
        os << " : si64";
        return success();
      })
      .Case<FloatAttr, StringAttr>([&](Attribute plain) {
        os << plain;
        return success();
      })
      .Case([&](TypeAttr type) {
        os << htp::onnx::getDataType(type.getValue()) << " : si64";
        return success();
      })
      .Case([&](DenseI64ArrayAttr integers) {
        return writeList(integers.asArrayRef(),
                         [&](int64_t element) { os << element << " : si64"; });
      })
      .Case([&](ArrayAttr array) {
        bool written = true;
        (void)writeList(array, [&](Attribute element) {
          written &= succeeded(writeAttribute(op, element));
        });
        return success(written);
      })
      .Default([&](Attribute other) -> LogicalResult {
        if (Attribute elements = readElements(other)) {
          printElements(elements, os);
          return success();
        }
        return op->emitError("an attribute of '")
               << htp::onnx::getOpType(op) << "' has no form in IREE: "
               << other.getAbstractAttribute().getName();
      });
}

LogicalResult TorchText::writeAttributes(Operation *op) {
  if (auto encoded = op->getAttrOfType<ArrayAttr>("onnx.attributes");
      encoded && !encoded.empty())
    return op->emitError("'") << htp::onnx::getOpType(op)
                              << "' has attributes that IREE does not support";
  StringRef separator = " {";
  for (NamedAttribute attr : htp::onnx::getAllAttrs(op)) {
    if (htp::onnx::isReservedAttrName(attr.getName()))
      continue;
    os << separator << "torch.onnx." << attr.getName().getValue() << " = ";
    separator = ", ";
    if (failed(writeAttribute(op, attr.getValue())))
      return failure();
  }
  if (separator == ", ")
    os << '}';
  return success();
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void TorchText::end(Location loc) {
  if (locations && !isa<UnknownLoc>(loc))
    os << ' ' << ModuleFrame(modulePath).absolute(loc);
  os << '\n';
}

void TorchText::writeOperands(ValueRange values) {
  llvm::interleaveComma(values, os, [&](Value v) { os << nameOf(v); });
}

LogicalResult TorchText::writeTypes(ValueRange values, bool inParentheses) {
  os << (inParentheses ? "(" : "");
  bool known = true;
  llvm::interleaveComma(values, os, [&](Value value) {
    FailureOr<std::string> type = typeOf(value);
    known &= succeeded(type);
    os << (succeeded(type) ? *type : "");
  });
  os << (inParentheses ? ")" : "");
  return success(known);
}

void TorchText::nameResults(Operation *op) {
  if (op->getNumResults() == 0)
    return;
  std::string name = freshName();
  if (op->getNumResults() == 1) {
    setName(op->getResult(0), name);
    os << name << " = ";
    return;
  }
  for (OpResult result : op->getResults())
    setName(result, name + "#" + std::to_string(result.getResultNumber()));
  os << name << ':' << op->getNumResults() << " = ";
}

LogicalResult TorchText::writeRegions(Operation *op) {
  // IREE expects the regions sorted by attribute name.
  SmallVector<std::pair<StringRef, Region *>> regions;
  for (auto [name, region] :
       llvm::zip(htp::onnx::getRegionNames(op), op->getRegions()))
    regions.push_back({name, &region});
  llvm::sort(regions, llvm::less_first());
  StringRef separator = " ";
  for (auto [name, region] : regions) {
    os << separator << "{\n";
    separator = ", ";
    ++depth;
    if (failed(writeBlock(region->front())))
      return failure();
    --depth;
    line() << '}';
  }
  return success();
}

LogicalResult TorchText::writeNode(Operation *op) {
  StringRef domain = htp::onnx::getDomain(op);
  if (!domain.empty() && domain != "ai.onnx")
    return op->emitError("'")
           << domain << "." << htp::onnx::getOpType(op)
           << "' is not an operator of ONNX itself; IREE imports no others";
  line();
  nameResults(op);
  os << "torch.operator \"onnx." << htp::onnx::getOpType(op) << "\"(";
  writeOperands(op->getOperands());
  os << ')';
  if (failed(writeAttributes(op)))
    return failure();
  os << " : ";
  if (failed(writeTypes(op->getOperands(), /*inParentheses=*/true)))
    return failure();
  os << " -> ";
  if (failed(writeTypes(op->getResults(), op->getNumResults() != 1)) ||
      failed(writeRegions(op)))
    return failure();
  end(op->getLoc());
  return success();
}

LogicalResult TorchText::writeTerminator(Operation *op) {
  line() << (isa<htp::onnx::YieldOp>(op) ? "torch.operator_terminator"
                                         : "return");
  if (op->getNumOperands()) {
    os << ' ';
    writeOperands(op->getOperands());
    os << " : ";
    if (failed(writeTypes(op->getOperands(), /*inParentheses=*/false)))
      return failure();
  }
  end(op->getLoc());
  return success();
}

LogicalResult TorchText::writeOp(Operation *op) {
  if (isa<htp::onnx::ReturnOp, htp::onnx::YieldOp, func::ReturnOp>(op))
    return writeTerminator(op);
  // Skip originals of constants that outlining copied into functions.
  if (isConstant(op) && op->use_empty())
    return success();
  if (isAbsentValue(op)) {
    line();
    nameResults(op);
    os << "torch.constant.none\n";
    return success();
  }
  if (op->getName().getDialectNamespace() != "onnx")
    return op->emitError("'")
           << op->getName()
           << "' is not an ONNX operator; IREE imports no others";
  return writeNode(op);
}

LogicalResult TorchText::writeBlock(Block &block) {
  if (!block.getArguments().empty() && depth > 2) {
    os << "^bb0(";
    bool known = true;
    llvm::interleaveComma(block.getArguments(), os, [&](BlockArgument value) {
      setName(value, freshName());
      FailureOr<std::string> type = typeOf(value);
      known &= succeeded(type);
      os << nameOf(value) << ": " << (succeeded(type) ? *type : "");
    });
    os << "):\n";
    if (!known)
      return failure();
  }
  for (Operation &op : block)
    if (failed(writeOp(&op)))
      return failure();
  return success();
}

LogicalResult TorchText::writeFunction(func::FuncOp function, StringRef name,
                                       StringRef path) {
  modulePath = path.str();
  Block &body = function.front();
  line() << "func.func @" << name << '(';
  bool known = true;
  llvm::interleaveComma(body.getArguments(), os, [&](BlockArgument value) {
    setName(value, "%arg" + std::to_string(value.getArgNumber()));
    FailureOr<std::string> type = typeOf(value);
    known &= succeeded(type);
    os << nameOf(value) << ": " << (succeeded(type) ? *type : "");
  });
  os << ") -> ";
  if (!known || failed(writeTypes(body.back().getOperands(),
                                  /*inParentheses=*/true)))
    return failure();
  int64_t opset = htp::onnx::getOpsetVersion(&body.back(), "");
  if (opset)
    os << " attributes {torch.onnx_meta.opset_version = " << opset
       << " : si64}";
  os << " {\n";
  ++depth;
  writeStart();
  if (failed(writeBlock(body)))
    return failure();
  --depth;
  line() << '}';
  end(function.getLoc());
  return success();
}
