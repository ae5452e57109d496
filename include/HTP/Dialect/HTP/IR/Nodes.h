// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What HTP's passes read from the operations of a model. Everything is an
// attribute looked up by name, so the passes do not depend on the dialect of
// the tagged operations.

#ifndef HTP_DIALECT_HTP_IR_NODES_H
#define HTP_DIALECT_HTP_IR_NODES_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include <cassert>
#include <tuple>

namespace htp {

/// Attributes that the ONNX importer sets.
inline constexpr llvm::StringLiteral kNodeNameAttr = "onnx_node_name";
inline constexpr llvm::StringLiteral kOutputNamesAttr = "onnx_output_names";
inline constexpr llvm::StringLiteral kValueNameAttr = "onnx.name";
inline constexpr llvm::StringLiteral kMetadataAttr = "onnx.metadata_props";
inline constexpr llvm::StringLiteral kInitializerAttr = "onnx.initializer";
/// Which of several functions of one name a node calls or a function is.
inline constexpr llvm::StringLiteral kOverloadAttr = "onnx.overload";
inline constexpr llvm::StringLiteral kFunctionOverloadAttr =
    "onnx.function_overload";
/// The position of a node in a file that was not in topological order.
inline constexpr llvm::StringLiteral kPositionAttr = "onnx.position";
/// The metadata key under which torch.export's exporter stores the Python
/// stack.
inline constexpr llvm::StringLiteral kStackTraceKey =
    "pkg.torch.onnx.stack_trace";

/// Whether `op` is an initializer: an `onnx.Constant` that holds a weight and
/// is not a node of the file.
bool isInitializer(mlir::Operation *op);

/// Whether `op` is a node of the model. Symbols (functions), terminators,
/// initializers, placeholders for missing values and a function's copies of
/// constants are not.
bool isNode(mlir::Operation *op);

/// Whether `op` is a node that must have a tag of its own. Scalar ops in the
/// body of a tagged op (a linalg.generic) need none.
bool needsTag(mlir::Operation *op);

/// Calls `visit` for every node of `module` in order, including nodes inside
/// functions and inside other nodes.
void forEachNode(mlir::ModuleOp module,
                 llvm::function_ref<void(mlir::Operation *)> visit);

/// The same, but skips functions that --htp-outline made: tags there are
/// relative to the function's module, and were decided by an earlier run.
void forEachRootedNode(mlir::ModuleOp module,
                       llvm::function_ref<void(mlir::Operation *)> visit);

/// The operator's name ("MatMul"); for an `onnx.Custom`, the name it stands
/// for.
llvm::StringRef getOpType(mlir::Operation *op);

/// The operator's ONNX domain, empty for the default domain. For an operation
/// of another dialect, the name of that dialect.
llvm::StringRef getDomain(mlir::Operation *op);

/// Whether `op` is an ONNX operator outside of the default domain. Optimizers
/// put fused operators there.
bool isForeign(mlir::Operation *op);

/// What a model-local ONNX function is called by: domain, name and overload. A
/// missing domain or overload is the same as an empty one; all are null if
/// there is no name.
using FunctionId =
    std::tuple<mlir::StringAttr, mlir::StringAttr, mlir::StringAttr>;

/// The identity of `function`, and that of the function that `node` calls if
/// the model has it.
FunctionId functionId(mlir::Operation *function);
FunctionId calledFunctionId(mlir::Operation *node);

/// The node's name, or empty.
llvm::StringRef getNodeName(mlir::Operation *op);

/// Whether `name` is that of the node or of one of its results, which is the
/// only handle on nodes without names.
bool isCalled(mlir::Operation *op, llvm::StringRef name);

/// The name of a result or of a function's argument; null or empty if it has
/// none.
mlir::StringAttr getValueNameAttr(mlir::Value value);
llvm::StringRef getValueName(mlir::Value value);

/// Calls `visit` for each entry of a metadata list (kMetadataAttr), in order.
/// `value` is null if it is not a string.
void forEachMetadata(
    mlir::Attribute metadata,
    llvm::function_ref<void(llvm::StringRef key, mlir::StringAttr value)>
        visit);

/// The value of `key` in a node's metadata as other tools wrote it, or null.
/// HTP's own keys are never part of the metadata in the IR.
mlir::StringAttr getMetadata(mlir::Operation *op, llvm::StringRef key);

/// Whether `op` forwards the contents of a tensor, perhaps in another layout or
/// type. Its result still counts as the parameter that it reads.
bool isCopy(mlir::Operation *op);

/// Edits the attributes of a function's arguments in bulk. Setting them one at
/// a time would rebuild the array of all arguments each time.
class ArgumentAttrs {
public:
  explicit ArgumentAttrs(mlir::FunctionOpInterface function);
  mlir::NamedAttrList &operator[](unsigned argument) {
    assert(argument < lists.size() && "no such argument");
    return lists[argument];
  }
  void store();

private:
  mlir::FunctionOpInterface function;
  std::vector<mlir::NamedAttrList> lists;
};

/// The modules whose nodes read a value (a parameter), directly or through
/// copies of it, according to their tags; in order, without duplicates.
llvm::SmallVector<llvm::StringRef> taggedReaders(mlir::Value value);

/// The bytes of a tensor, row-major, or nothing if they are not available.
/// `storage` owns them if they have to be computed.
std::optional<llvm::ArrayRef<char>>
getTensorBytes(mlir::Attribute tensor, llvm::SmallVectorImpl<char> &storage);

} // namespace htp

#endif // HTP_DIALECT_HTP_IR_NODES_H
