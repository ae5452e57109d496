// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A function of ONNX ops to linalg. A handful of ops, static shapes, f32:
// enough to show where a compiler's own lowering goes.

#include "Compiler.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"

#include <cmath>

using namespace mlir;

static bool isWeight(Operation *op) {
  return op->hasAttr("onnx.initializer") && op->getNumResults() == 1;
}

SmallVector<Operation *> weightsOf(func::FuncOp function) {
  SmallVector<Operation *> weights;
  for (Operation &op : function.front())
    if (isWeight(&op))
      weights.push_back(&op);
  return weights;
}

static MemRefType bufferType(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape()
             ? MemRefType::get(tensor.getShape(), tensor.getElementType())
             : MemRefType();
}

namespace {
class Lowering {
public:
  explicit Lowering(func::FuncOp from) : from(from), b(from.getContext()) {}
  FailureOr<OwningOpRef<ModuleOp>> run();

private:
  using Body = llvm::function_ref<Value(OpBuilder &, Location, ValueRange)>;

  LogicalResult lower(Operation *op);
  LogicalResult lowerCall(func::CallOp call);
  LogicalResult declareWeights(ArrayRef<Operation *> weights);
  Value elementwise(Operation *op, ValueRange operands, Body body);
  Value matmul(Operation *op, Value x, Value w, bool transposed);
  Value lowerOne(Operation *op, ValueRange operands);
  Value constant(Operation *op);
  LogicalResult addSignature(FunctionType type, SmallVectorImpl<Type> &types);

  func::FuncOp from;
  OpBuilder b;
  IRMapping values;
  ModuleOp module;
};
} // namespace

/// Inputs and results of a function as memrefs.
LogicalResult Lowering::addSignature(FunctionType type,
                                     SmallVectorImpl<Type> &types) {
  for (Type one : type.getInputs())
    types.push_back(bufferType(one));
  for (Type one : type.getResults())
    types.push_back(bufferType(one));
  return success(!llvm::is_contained(types, Type()));
}

/// Operands are broadcast as ONNX does it: a dimension that is 1 or missing is
/// read at 0.
Value Lowering::elementwise(Operation *op, ValueRange operands, Body body) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  int64_t rank = type.getRank();
  SmallVector<AffineMap> maps;
  for (Value operand : operands) {
    auto shape = cast<RankedTensorType>(operand.getType()).getShape();
    SmallVector<AffineExpr> at;
    for (auto [i, size] : llvm::enumerate(shape)) {
      unsigned dim = rank - shape.size() + i;
      at.push_back(size == 1 && type.getDimSize(dim) != 1
                       ? b.getAffineConstantExpr(0)
                       : b.getAffineDimExpr(dim));
    }
    maps.push_back(AffineMap::get(rank, 0, at, b.getContext()));
  }
  maps.push_back(b.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  Value out = tensor::EmptyOp::create(b, op->getLoc(), type.getShape(),
                                      type.getElementType());
  return linalg::GenericOp::create(
             b, op->getLoc(), type, operands, out, maps, loops,
             [&](OpBuilder &inner, Location loc, ValueRange arguments) {
               linalg::YieldOp::create(inner, loc,
                                       body(inner, loc, arguments.drop_back()));
             })
      .getResult(0);
}

/// x of any rank times a matrix, or a batch of matrices of the same rank.
Value Lowering::matmul(Operation *op, Value x, Value w, bool transposed) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  int64_t rank = type.getRank(); // …, m, n; the last loop is k
  bool batched = cast<RankedTensorType>(w.getType()).getRank() > 2;
  AffineExpr m = b.getAffineDimExpr(rank - 2), n = b.getAffineDimExpr(rank - 1),
             k = b.getAffineDimExpr(rank);
  SmallVector<AffineExpr> batch, ofX, ofW, ofOut;
  for (int64_t i = 0; i < rank - 2; ++i)
    batch.push_back(b.getAffineDimExpr(i));
  ofX = ofOut = batch;
  if (batched)
    ofW = batch;
  ofX.append({m, k});
  ofW.append({transposed ? n : k, transposed ? k : n});
  ofOut.append({m, n});
  SmallVector<AffineMap> maps;
  for (ArrayRef<AffineExpr> at : {ofX, ofW, ofOut})
    maps.push_back(AffineMap::get(rank + 1, 0, at, b.getContext()));
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  loops.push_back(utils::IteratorType::reduction);
  Location loc = op->getLoc();
  Value zero =
      arith::ConstantOp::create(b, loc, b.getZeroAttr(type.getElementType()));
  Value empty =
      tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  Value sum = linalg::FillOp::create(b, loc, zero, empty).getResult(0);
  return linalg::GenericOp::create(
             b, loc, type, ValueRange{x, w}, sum, maps, loops,
             [](OpBuilder &inner, Location loc, ValueRange in) {
               Value product = arith::MulFOp::create(inner, loc, in[0], in[1]);
               Value next = arith::AddFOp::create(inner, loc, in[2], product);
               linalg::YieldOp::create(inner, loc, next);
             })
      .getResult(0);
}

Value Lowering::constant(Operation *op) {
  auto value = op->getAttrOfType<ElementsAttr>("value");
  auto dense = dyn_cast_or_null<DenseElementsAttr>(value);
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!dense || !type)
    return {};
  return arith::ConstantOp::create(b, op->getLoc(), dense);
}

/// x / 2 * (1 + erf(x / sqrt(2)))
static Value gelu(OpBuilder &b, Location loc, ValueRange v) {
  auto constant = [&](double value) -> Value {
    return arith::ConstantOp::create(b, loc,
                                     b.getFloatAttr(v[0].getType(), value));
  };
  Value inner = arith::MulFOp::create(b, loc, v[0], constant(M_SQRT1_2));
  Value erf = math::ErfOp::create(b, loc, inner);
  Value sum = arith::AddFOp::create(b, loc, erf, constant(1.0));
  Value half = arith::MulFOp::create(b, loc, v[0], constant(0.5));
  return arith::MulFOp::create(b, loc, half, sum);
}

Value Lowering::lowerOne(Operation *op, ValueRange in) {
  StringRef name = op->getName().stripDialect();
  auto binary = [&](auto make) {
    return elementwise(op, in,
                       [&](OpBuilder &inner, Location loc, ValueRange v) {
                         return make(inner, loc, v).getResult();
                       });
  };
#define BINARY(NAME, OP)                                                       \
  if (name == NAME)                                                            \
    return binary([](OpBuilder &inner, Location loc, ValueRange v) {           \
      return OP::create(inner, loc, v[0], v[1]);                               \
    });
#define UNARY(NAME, OP)                                                        \
  if (name == NAME)                                                            \
    return binary([](OpBuilder &inner, Location loc, ValueRange v) {           \
      return OP::create(inner, loc, v[0]);                                     \
    });
  BINARY("Add", arith::AddFOp)
  BINARY("Sub", arith::SubFOp)
  BINARY("Mul", arith::MulFOp)
  BINARY("Div", arith::DivFOp)
  UNARY("Erf", math::ErfOp)
  UNARY("Tanh", math::TanhOp)
  UNARY("Sqrt", math::SqrtOp)
#undef BINARY
#undef UNARY
  if (name == "Relu")
    return elementwise(
        op, in, [](OpBuilder &inner, Location loc, ValueRange v) {
          Value zero = arith::ConstantOp::create(
              inner, loc, inner.getZeroAttr(v[0].getType()));
          return arith::MaximumFOp::create(inner, loc, v[0], zero).getResult();
        });
  auto approximate = op->getAttrOfType<StringAttr>("approximate");
  if (name == "Gelu" && (!approximate || approximate == "none"))
    return elementwise(op, in, gelu);
  if (name == "MatMul")
    return matmul(op, in[0], in[1], /*transposed=*/false);
  if (name == "Gemm") {
    auto transposed = op->getAttrOfType<IntegerAttr>("transB");
    Value product = matmul(op, in[0], in[1],
                           transposed && transposed.getValue().getBoolValue());
    if (in.size() < 3 || isa<NoneType>(in[2].getType()))
      return product;
    return elementwise(
        op, ValueRange{product, in[2]},
        [](OpBuilder &inner, Location loc, ValueRange v) {
          return arith::AddFOp::create(inner, loc, v[0], v[1]).getResult();
        });
  }
  if (name == "Reshape") {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    auto shape = RankedTensorType::get({type.getRank()}, b.getIndexType());
    Value to = arith::ConstantOp::create(
        b, op->getLoc(),
        DenseElementsAttr::get(
            shape, llvm::map_to_vector(type.getShape(), [&](int64_t size) {
              return Attribute(b.getIndexAttr(size));
            })));
    return tensor::ReshapeOp::create(b, op->getLoc(), type, in[0], to);
  }
  if (name == "Identity")
    return in[0];
  if (name == "Transpose") {
    SmallVector<int64_t> order;
    for (auto at :
         op->getAttrOfType<ArrayAttr>("perm").getAsRange<IntegerAttr>())
      order.push_back(at.getValue().getSExtValue());
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    Value empty = tensor::EmptyOp::create(b, op->getLoc(), type.getShape(),
                                          type.getElementType());
    return linalg::TransposeOp::create(b, op->getLoc(), in[0], empty, order)
        ->getResult(0);
  }
  return name == "Constant" ? constant(op) : Value();
}

/// A call passes buffers, the last ones for the results.
LogicalResult Lowering::lowerCall(func::CallOp call) {
  Location loc = call.getLoc();
  SmallVector<Value> buffers;
  for (Value operand : call.getOperands())
    buffers.push_back(bufferization::ToBufferOp::create(
        b, loc, bufferType(operand.getType()), values.lookup(operand),
        /*read_only=*/true));
  SmallVector<Value> results;
  for (Value result : call.getResults()) {
    MemRefType type = bufferType(result.getType());
    if (!type)
      return call.emitError("needs static shapes");
    results.push_back(memref::AllocOp::create(b, loc, type));
  }
  llvm::append_range(buffers, results);
  func::CallOp::create(b, loc, call.getCallee(), TypeRange(), buffers);
  for (auto [result, buffer] : llvm::zip(call.getResults(), results))
    values.map(result, bufferization::ToTensorOp::create(
                           b, loc, result.getType(), buffer, /*restrict=*/true,
                           /*writable=*/false));
  if (module.lookupSymbol(call.getCallee()))
    return success();
  auto declared = func::FuncOp::create(
      loc, call.getCallee(),
      b.getFunctionType(TypeRange(ValueRange(buffers)), {}));
  declared.setPrivate();
  module.push_back(declared);
  return success();
}

LogicalResult Lowering::lower(Operation *op) {
  if (auto call = dyn_cast<func::CallOp>(op))
    return lowerCall(call);
  if (op->getNumResults() == 1 && isa<NoneType>(op->getResult(0).getType()))
    return success(); // stands for an operand that is not there
  if (op->getNumResults() != 1 || !bufferType(op->getResult(0).getType()))
    return op->emitError("needs one result of static shape");
  SmallVector<Value> operands;
  for (Value operand : op->getOperands())
    if (Value value = values.lookupOrNull(operand))
      operands.push_back(value);
  Value lowered = lowerOne(op, operands);
  if (!lowered)
    return op->emitOpError("is one that this compiler does not know");
  values.map(op->getResult(0), lowered);
  return success();
}

/// Weights are symbols that whoever links the code defines: as arguments, a
/// hundred layers of them would cost more than the layer.
LogicalResult Lowering::declareWeights(ArrayRef<Operation *> weights) {
  for (auto [i, op] : llvm::enumerate(weights)) {
    auto type = op->getResult(0).getType();
    MemRefType buffer = bufferType(type);
    if (!buffer)
      return op->emitOpError("needs a static shape");
    OpBuilder atEnd = OpBuilder::atBlockEnd(module.getBody());
    std::string name = "weight" + std::to_string(i);
    memref::GlobalOp::create(atEnd, op->getLoc(), name,
                             /*sym_visibility=*/StringAttr(), buffer,
                             /*initial_value=*/Attribute(), /*constant=*/false,
                             /*alignment=*/IntegerAttr());
    Value weight = memref::GetGlobalOp::create(b, op->getLoc(), buffer, name);
    values.map(op->getResult(0), bufferization::ToTensorOp::create(
                                     b, op->getLoc(), type, weight,
                                     /*restrict=*/true, /*writable=*/false));
  }
  return success();
}

FailureOr<OwningOpRef<ModuleOp>> Lowering::run() {
  OwningOpRef<ModuleOp> result = ModuleOp::create(from.getLoc());
  module = *result;
  SmallVector<Operation *> weights = weightsOf(from);
  ValueRange inputs = from.front().getArguments();
  ValueRange results = from.front().back().getOperands();
  SmallVector<Type> types;
  if (failed(addSignature(
          b.getFunctionType(inputs.getTypes(), results.getTypes()), types)))
    return from.emitError("needs static shapes");
  auto to = func::FuncOp::create(from.getLoc(), from.getSymName(),
                                 b.getFunctionType(types, {}));
  to->setAttr("llvm.emit_c_interface", b.getUnitAttr());
  module.push_back(to);
  Block *body = to.addEntryBlock();
  b.setInsertionPointToStart(body);
  for (auto [input, buffer] : llvm::zip(inputs, body->getArguments()))
    values.map(input, bufferization::ToTensorOp::create(
                          b, to.getLoc(), input.getType(), buffer,
                          /*restrict=*/true, /*writable=*/false));
  if (failed(declareWeights(weights)))
    return failure();
  for (Operation &op : from.front().without_terminator())
    if (!isWeight(&op) && failed(lower(&op)))
      return failure();
  for (auto [value, buffer] :
       llvm::zip(results, body->getArguments().take_back(results.size())))
    bufferization::MaterializeInDestinationOp::create(
        b, to.getLoc(), TypeRange(), values.lookup(value), buffer,
        /*restrict=*/true, /*writable=*/true);
  func::ReturnOp::create(b, to.getLoc());
  return result;
}

FailureOr<OwningOpRef<ModuleOp>> lower(func::FuncOp function) {
  return Lowering(function).run();
}
