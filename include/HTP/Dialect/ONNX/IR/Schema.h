// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The operators of the linked ONNX library as MLIR operations: one for each
// operator name, shared by all opset versions. The versions differ in what the
// verifier accepts; the opset import of the enclosing function or module
// selects one.

#ifndef HTP_DIALECT_ONNX_IR_SCHEMA_H
#define HTP_DIALECT_ONNX_IR_SCHEMA_H

#include "HTP/Dialect/ONNX/IR/ONNX.h"

#include <deque>
#include <mutex>

namespace onnx {
class ISchemaRegistry;
class OpSchema;
} // namespace onnx

namespace htp::onnx {

/// Registers an operation for every schema in all of their versions.
void registerSchemaOps(ONNXDialect &dialect);

/// A schema of the library, created on first use: a model needs a few dozen of
/// more than a thousand.
class LazySchema {
public:
  using Factory = ::onnx::OpSchema (*)();
  explicit LazySchema(Factory make) : make(make) {}
  const ::onnx::OpSchema &operator*() const;
  const ::onnx::OpSchema *operator->() const { return &**this; }

private:
  Factory make;
  mutable std::once_flag once;
  mutable const ::onnx::OpSchema *schema = nullptr; ///< never freed
};

/// All schemas of one operator.
struct OperatorSchemas {
  struct Version {
    using Names = llvm::ArrayRef<llvm::StringRef>;
    Version(int64_t since, LazySchema::Factory make, Names attributes,
            Names graphs, Names required)
        : since(since), schema(make), attributes(attributes), graphs(graphs),
          required(required) {}

    int64_t since; ///< the first opset with this version
    LazySchema schema;
    Names attributes; ///< all except GRAPH attributes
    Names graphs;     ///< GRAPH attributes
    Names required;   ///< attributes of any kind
  };

  llvm::StringRef domain;
  bool isRandom;                ///< the result depends on more than the inputs
  std::deque<Version> versions; ///< oldest first

  /// The version that `opset` selects; the newest for 0, null if there is none.
  const Version *at(int64_t opset) const;
};

/// All operators, sorted by name.
void forEachOperator(
    llvm::function_ref<void(llvm::StringRef, const OperatorSchemas &)> visit);

/// Null for an operator without a schema. No name is used by two domains.
const OperatorSchemas *findOperator(llvm::StringRef opType);

/// The schema of the operator in this domain that the opset version selects;
/// the newest if `version` is 0. Null if there is none.
const ::onnx::OpSchema *findSchema(llvm::StringRef opType,
                                   llvm::StringRef domain, int64_t version);

/// The schema that applies to `op` under the opset imports around it.
const ::onnx::OpSchema *findSchema(mlir::Operation *op);

/// A registry of the same lazily created schemas, for the library's own
/// algorithms. The library's registry would create all of them on first use.
const ::onnx::ISchemaRegistry &schemaRegistry();

/// The domain whose schemas describe the operator with this name ("" for the
/// default domain), or nothing for an operator without a schema.
std::optional<llvm::StringRef> findDomain(llvm::StringRef opType);

/// The version of `domain` that the opset imports around `op` ask for, 0 if
/// there are none.
int64_t getOpsetVersion(mlir::Operation *op, llvm::StringRef domain);

/// Operator type and domain of the node that `op` stands for.
llvm::StringRef getOpType(mlir::Operation *op);
llvm::StringRef getDomain(mlir::Operation *op);

/// The name of the GRAPH attribute that each region of `op` stands for, in
/// region order.
llvm::SmallVector<llvm::StringRef> getRegionNames(mlir::Operation *op);

/// Whether an attribute of this name is bookkeeping of this or another dialect,
/// as opposed to an attribute of the ONNX node.
bool isReservedAttrName(llvm::StringRef name);

/// The attribute that holds the contents of most onnx.Constants.
constexpr llvm::StringLiteral kValue = "value";

/// Whether values of this attribute are mostly unique to one node: its names,
/// its metadata, the value of a constant. Operations with a schema store these
/// apart from their attribute dictionary, as uniquing a dictionary per node is
/// expensive.
bool isOwn(llvm::StringRef name);

/// All attributes of the operation, including the properties that textual IR
/// gives to one without a schema (`"onnx.SoftmaxV11"(…) <{axis = 1 : si64}>`).
/// Unlike Operation::getAttrDictionary this does not unique a dictionary, which
/// the context would keep forever.
mlir::NamedAttrList getAllAttrs(mlir::Operation *op);

/// Checks a list in which the importer notes what MLIR has no place for, as its
/// readers take it apart without another look.
mlir::LogicalResult verifyNote(mlir::Operation *op,
                               mlir::NamedAttribute attribute);

/// Checks the op against the schema that applies: number of operands and
/// results, attribute names and types.
mlir::LogicalResult verifyAgainstSchema(mlir::Operation *op,
                                        const OperatorSchemas &schemas);

} // namespace htp::onnx

#endif // HTP_DIALECT_ONNX_IR_SCHEMA_H
