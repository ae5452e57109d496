// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What HTP's passes read from the operations of a model. Everything is a plain
// attribute looked up by name: no dialect of the tagged operations is needed.

#ifndef HTP_DIALECT_HTP_IR_NODES_H
#define HTP_DIALECT_HTP_IR_NODES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace htp {

/// Attributes that the ONNX importer sets.
inline constexpr llvm::StringLiteral kNodeNameAttr = "onnx_node_name";
inline constexpr llvm::StringLiteral kOutputNamesAttr = "onnx_output_names";
inline constexpr llvm::StringLiteral kValueNameAttr = "onnx.name";
inline constexpr llvm::StringLiteral kMetadataAttr = "onnx.metadata_props";
inline constexpr llvm::StringLiteral kInitializerAttr = "onnx.initializer";
/// The place of a node in a file whose nodes were not in topological order.
inline constexpr llvm::StringLiteral kPositionAttr = "onnx.position";
/// Metadata of a node in which torch.export's exporter notes the Python code.
inline constexpr llvm::StringLiteral kStackTraceKey =
    "pkg.torch.onnx.stack_trace";

/// Whether `op` is a weight that the model holds: an `onnx.Constant` that was
/// an initializer.
bool isInitializer(mlir::Operation *op);

/// Whether `op` is a node of the model, which has a tag: not a function or
/// another symbol, not a terminator, not an initializer, not a placeholder for
/// a missing value, not a function's copy of a constant.
bool isNode(mlir::Operation *op);

/// Whether `op` is a node that must have a tag of its own. One that only says
/// what a tagged op around it does with its elements, as in the body of a
/// linalg op, need not.
bool needsTag(mlir::Operation *op);

/// Calls `visit` for every node of `module`, those inside functions and inside
/// other nodes included, in order.
void forEachNode(mlir::ModuleOp module,
                 llvm::function_ref<void(mlir::Operation *)> visit);

/// The same without those of functions that --htp-outline made: their tags are
/// relative to the function's module, and answers of an earlier run.
void forEachRootedNode(mlir::ModuleOp module,
                       llvm::function_ref<void(mlir::Operation *)> visit);

/// The operator's name: "MatMul"; of a custom operator its own.
llvm::StringRef getOpType(mlir::Operation *op);

/// The operator's domain in ONNX; empty for ONNX's own. An operation of another
/// dialect has that dialect's name.
llvm::StringRef getDomain(mlir::Operation *op);

/// Whether `op` is an operator that a model says to be of another domain than
/// ONNX's own: an optimizer may have made it out of several.
bool isForeign(mlir::Operation *op);

/// The node's name; empty where it has none.
llvm::StringRef getNodeName(mlir::Operation *op);

/// Whether `name` is that of the node or of one of its values: nodes without
/// names have no other handle.
bool isCalled(mlir::Operation *op, llvm::StringRef name);

/// The name of a result or of a function's argument; null, or empty, where it
/// has none.
mlir::StringAttr getValueNameAttr(mlir::Value value);
llvm::StringRef getValueName(mlir::Value value);

/// Calls `visit` for each entry of a list of metadata (kMetadataAttr), in
/// order. A value that is no string is null.
void forEachMetadata(
    mlir::Attribute metadata,
    llvm::function_ref<void(llvm::StringRef key, mlir::StringAttr value)>
        visit);

/// The value of `key` in a node's metadata, which another tool left there; null
/// where it is not there. What HTP writes into files is never among it.
mlir::StringAttr getMetadata(mlir::Operation *op, llvm::StringRef key);

/// Whether `op` passes a tensor's contents on, perhaps in another layout or
/// type: what it makes of a parameter is still that parameter.
bool isCopy(mlir::Operation *op);

/// The attributes of a function's arguments, to be changed together: set one by
/// one, each makes a new array of all.
class ArgumentAttrs {
public:
  explicit ArgumentAttrs(mlir::FunctionOpInterface function);
  mlir::NamedAttrList &operator[](unsigned argument) { return lists[argument]; }
  void store();

private:
  mlir::FunctionOpInterface function;
  std::vector<mlir::NamedAttrList> lists;
};

/// The modules that read a value (a parameter), through copies of it, by the
/// tags of the nodes; in order, each once.
llvm::SmallVector<llvm::StringRef> taggedReaders(mlir::Value value);

/// The bytes of a tensor, row-major, or nothing where they are not at hand.
/// `storage` holds them where they must be made.
std::optional<llvm::ArrayRef<char>>
getTensorBytes(mlir::Attribute tensor, llvm::SmallVectorImpl<char> &storage);

} // namespace htp

#endif // HTP_DIALECT_HTP_IR_NODES_H
