// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The module calls that the ops of a block belong to, and the dataflow between
// them: the input of outlining and extraction.

#ifndef HTP_LIB_TRANSFORMS_OUTLINING_MODULECALLS_H
#define HTP_LIB_TRANSFORMS_OUTLINING_MODULECALLS_H

#include "HTP/Dialect/HTP/IR/CallRecord.h"
#include "HTP/Dialect/HTP/IR/Hierarchy.h"
#include "HTP/Hierarchy/Scopes.h"
#include "HTP/Partition/Partition.h"

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace htp {

/// The printed form of a module call: "encoder.layer.0", or "encoder.layer.0:1"
/// for the second call.
std::string callName(llvm::StringRef path, int64_t call);

/// Relates call numbers of a module to those of its ancestors. A tag counts
/// only the calls of its own module: if a layer runs twice and its child four
/// times, the child's calls 2 and 3 are part of the layer's call 1.
class CallNumbers {
public:
  /// `seen` are the calls in the tags of ops; they complete the counts in the
  /// tree.
  CallNumbers(const ModuleTree &tree, llvm::ArrayRef<ModuleCall> seen);

  /// The call of `ancestor` that `inner` is part of.
  int64_t callOf(ModuleId ancestor, ModuleCall inner) const;
  /// The number of the first call of `inner` within `outer`.
  int64_t firstCall(ModuleCall outer, ModuleId inner) const;

private:
  std::vector<int64_t> calls; ///< by module, at least 1
};

/// The module call in an op's tag or, without one, in its location: the common
/// ancestor if the op was fused from several modules.
std::optional<ModuleCall> readModuleCall(mlir::Operation *op, PathAttrs &paths);

/// Whether `value` is a weight that HTP or the importer marked as a parameter,
/// or a copy of one. Exporters store equal parameters once and copy them
/// (`Identity`) to the names of the others, so a reader of a copy reads a
/// parameter of its own module.
bool isParameter(mlir::Value value);
bool isParameter(mlir::Operation *op);

/// The path of the parameter that `value` is; empty if unknown.
llvm::StringRef parameterPath(mlir::Value value, const ModuleTree &tree);

/// The ops of a block, their modules and their dataflow.
struct TaggedBlock {
  /// Collects the ops. Afterwards call readTags and readDataflow, in any order
  /// or concurrently: neither changes the IR or creates attributes.
  explicit TaggedBlock(mlir::Block &block);

  /// Fails with an error if no op has a tag, or if only some do.
  mlir::LogicalResult readTags(PathAttrs &paths);
  void readDataflow(const ModuleTree &tree);

  /// Does all three steps.
  static mlir::FailureOr<TaggedBlock> read(mlir::Block &block,
                                           const ModuleTree &tree);

  mlir::Block *block;
  std::vector<mlir::Operation *> ops; ///< without the terminator
  std::vector<ModuleCall> calls;      ///< by op
  std::vector<bool> absent;           ///< by op: isAbsentValue
  DataflowGraph graph{0};
};

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_OUTLINING_MODULECALLS_H
