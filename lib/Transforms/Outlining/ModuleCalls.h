// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which call of which module the ops of a block belong to, and the dataflow
// between them: what outlining and extraction start from.

#ifndef HTP_LIB_TRANSFORMS_OUTLINING_MODULECALLS_H
#define HTP_LIB_TRANSFORMS_OUTLINING_MODULECALLS_H

#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Partition/Partition.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace htp {

/// One call of one module.
struct ModuleCall {
  ModuleId module = 0;
  int64_t call = 0;

  bool operator==(const ModuleCall &other) const {
    return module == other.module && call == other.call;
  }
};

/// The call of a module as people write it: "encoder.layer.0", and
/// "encoder.layer.0:1" for the second one.
std::string callName(llvm::StringRef path, int64_t call);

/// How the call numbers of a module relate to those of the modules above it.
/// A tag counts the calls of its own module only: where a layer runs twice and
/// its child four times, the child's calls 2 and 3 are part of the layer's 1.
class CallNumbers {
public:
  /// `seen` are the calls that the ops speak of; they complete what the tree
  /// does not know.
  CallNumbers(const ModuleTree &tree, llvm::ArrayRef<ModuleCall> seen);

  /// The call of `ancestor` that `inner` is part of.
  int64_t callOf(ModuleId ancestor, ModuleCall inner) const;
  /// The number of the first call of `inner` within `outer`.
  int64_t firstCall(ModuleCall outer, ModuleId inner) const;

private:
  std::vector<int64_t> calls; ///< by module, at least 1
};

/// The module that an op's tag names, or else its location: the common ancestor
/// where a pass fused ops of several modules.
std::optional<ModuleCall> readModuleCall(mlir::Operation *op, PathAttrs &paths);

/// Whether the model holds `value`: a weight that HTP or the importer marked as
/// a parameter, or a copy of one. An exporter that stores equal parameters once
/// copies them (`Identity`) to the names of the others: what reads a copy reads
/// a parameter of its own module.
bool isParameter(mlir::Value value);
bool isParameter(mlir::Operation *op);

/// The path of the parameter that `value` is; empty where it is unknown.
llvm::StringRef parameterPath(mlir::Value value, const ModuleTree &tree);

/// The ops of a block, their modules and their dataflow.
struct TaggedBlock {
  /// Only the ops. Then follow the tags and the dataflow, in any order or at
  /// the same time: neither changes the IR or makes attributes.
  explicit TaggedBlock(mlir::Block &block);

  /// Fails with an error where no op has a tag, or one between others has none.
  mlir::LogicalResult readTags(PathAttrs &paths);
  void readDataflow(const ModuleTree &tree);

  /// All of it.
  static mlir::FailureOr<TaggedBlock> read(mlir::Block &block,
                                           const ModuleTree &tree);

  mlir::Block *block;
  std::vector<mlir::Operation *> ops; ///< without the terminator
  std::vector<ModuleCall> calls;      ///< by op
  std::vector<bool> absent;           ///< by op: isAbsentValue
  Dataflow graph{0};
};

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_OUTLINING_MODULECALLS_H
