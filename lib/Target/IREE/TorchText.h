// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prints ONNX nodes in the form that IREE's importer produces:
//
//   %2 = torch.operator "onnx.Gemm"(%0, %1) {torch.onnx.transB = 1 : si64}
//     : (!torch.vtensor<[2,4],f32>, !torch.vtensor<[4,4],f32>)
//     -> !torch.vtensor<[2,4],f32> loc("fc")
//
// Generates text, as the torch dialect is only available inside IREE's
// compiler.

#ifndef HTP_LIB_TARGET_IREE_TORCHTEXT_H
#define HTP_LIB_TARGET_IREE_TORCHTEXT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace htp {

/// An element type in the torch dialect: integers are `si64`, `ui8` or `i1`.
std::string torchElement(mlir::Type elementType);

class TorchText {
public:
  TorchText(llvm::raw_ostream &os, bool locations)
      : os(os), locations(locations) {}
  virtual ~TorchText() = default;

  /// `name` is the symbol, `path` the module that scopes in locations are
  /// relative to.
  mlir::LogicalResult writeFunction(mlir::func::FuncOp function,
                                    llvm::StringRef name, llvm::StringRef path);

protected:
  virtual mlir::LogicalResult writeOp(mlir::Operation *op);
  /// Called after the signature and before the first op.
  virtual void writeStart() {}

  /// `!torch.vtensor<[2,?],si64>`; fails, with an error at `value`'s op, if
  /// IREE has no such type.
  mlir::FailureOr<std::string> typeOf(mlir::Value value);
  /// `tensor<2x?xi64>`, for a value passed to or returned from a layer.
  mlir::FailureOr<std::string> builtinTypeOf(mlir::Value value);

  std::string nameOf(mlir::Value value) const { return names.lookup(value); }
  void setName(mlir::Value value, std::string name) {
    names[value] = std::move(name);
  }
  std::string freshName() { return "%" + std::to_string(numNames++); }
  llvm::raw_ostream &line() { return os.indent(2 * depth); }
  /// Ends a line, with a location if these are enabled.
  void end(mlir::Location loc);

  llvm::raw_ostream &os;

private:
  mlir::LogicalResult writeBlock(mlir::Block &block);
  mlir::LogicalResult writeNode(mlir::Operation *op);
  mlir::LogicalResult writeAttributes(mlir::Operation *op);
  mlir::LogicalResult writeAttribute(mlir::Operation *op,
                                     mlir::Attribute value);
  mlir::LogicalResult writeRegions(mlir::Operation *op);
  mlir::LogicalResult writeTypes(mlir::ValueRange values, bool inParentheses);
  void writeOperands(mlir::ValueRange values);
  mlir::LogicalResult writeTerminator(mlir::Operation *op);
  void nameResults(mlir::Operation *op);

  const bool locations;
  std::string modulePath;
  unsigned depth = 1, numNames = 0;
  llvm::DenseMap<mlir::Value, std::string> names;
};

} // namespace htp

#endif // HTP_LIB_TARGET_IREE_TORCHTEXT_H
