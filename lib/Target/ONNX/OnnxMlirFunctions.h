// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts model-local functions for onnx-mlir.
//
// An ONNX function is untyped and takes attributes as parameters. onnx-mlir's
// functions are typed and take no attributes, so there is one function for each
// combination of types and attributes in calls:
//
//   "onnx.Custom"(%x) <{function_name = "Scaled"}> {alpha = 0.5, domain_name =
//   …}
// becomes
//   call @Scaled(%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>

#ifndef HTP_LIB_TARGET_ONNX_ONNXMLIRFUNCTIONS_H
#define HTP_LIB_TARGET_ONNX_ONNXMLIRFUNCTIONS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/SymbolTable.h"

#include "onnx/onnx_pb.h"

#include <map>
#include <vector>

namespace htp {

class LocalFunctions {
public:
  /// Removes the functions that nodes call from the module.
  explicit LocalFunctions(mlir::ModuleOp module);

  /// A function for this kind of call.
  struct Instance {
    mlir::func::FuncOp function; // null: the node calls no function
    bool isNew = false;          // its body has not been converted yet
  };
  Instance instantiate(mlir::Operation *call);

  /// Called when the body of `instance` has been converted. `resultTypes` are
  /// those of the call, which may be more specific than the body's.
  void finish(mlir::func::FuncOp instance, mlir::TypeRange resultTypes);
  /// Whether `instance` is not finished, so that a call of it is recursive.
  bool isOpen(mlir::func::FuncOp instance) const {
    return open.contains(instance);
  }

private:
  mlir::func::FuncOp find(mlir::Operation *call);

  mlir::SymbolTable symbols;
  std::map<std::string, mlir::OwningOpRef<mlir::func::FuncOp>> functions;
  llvm::DenseMap<mlir::Attribute, mlir::func::FuncOp> instances;
  llvm::DenseSet<mlir::Operation *> open;
};

/// Exports a node without its tensors, and its operand types: the input of the
/// schema's type inference.
mlir::LogicalResult exportShell(mlir::Operation *op, ::onnx::NodeProto &node,
                                std::vector<::onnx::TypeProto> &types);

/// Sets result types of unknown type to what ONNX infers from the operands.
void inferResultTypes(mlir::Operation *op);

} // namespace htp

#endif // HTP_LIB_TARGET_ONNX_ONNXMLIRFUNCTIONS_H
