// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Model-local functions for onnx-mlir.
//
// A function of ONNX has no types, and attributes as parameters. onnx-mlir has
// functions with types and without such parameters, so there is one function
// for each kind of call:
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
  /// Takes the functions that nodes call out of the module.
  explicit LocalFunctions(mlir::ModuleOp module);

  /// A function for this kind of call.
  struct Instance {
    mlir::func::FuncOp function; // null: the node calls no function
    bool isNew = false;          // its body is still as it was in the model
  };
  Instance instantiate(mlir::Operation *call);

  /// The body of `instance` is what onnx-mlir takes. The call may know more of
  /// the results than the body.
  void finish(mlir::func::FuncOp instance, mlir::TypeRange resultTypes);
  /// Whether `instance` is not finished: it calls itself.
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

/// The node alone, and the types of its operands: what its schema needs to tell
/// the types of its results.
mlir::LogicalResult exportShell(mlir::Operation *op, ::onnx::NodeProto &node,
                                std::vector<::onnx::TypeProto> &types);

/// Gives the results of a node of which nothing is known the types that ONNX
/// infers from its operands.
void inferResultTypes(mlir::Operation *op);

} // namespace htp

#endif // HTP_LIB_TARGET_ONNX_ONNXMLIRFUNCTIONS_H
