// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which parameter of the model each value of the graph is, and which modules
// read it.

#ifndef HTP_LIB_TRANSFORMS_EVIDENCE_PARAMETEREVIDENCE_H
#define HTP_LIB_TRANSFORMS_EVIDENCE_PARAMETEREVIDENCE_H

#include "HTP/Hierarchy/ModuleTree.h"
#include "HTP/Hierarchy/Trace.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

#include <deque>

namespace htp {

/// How a value of the graph was found to be a parameter.
enum class ParameterMatch { Name, Content, Values };
llvm::StringRef describe(ParameterMatch match);

/// A value of the graph that is a parameter, or a copy of one.
struct ParameterValue {
  std::string path; ///< of the parameter
  ParameterMatch match = ParameterMatch::Name;
  llvm::ArrayRef<ModuleId> modules; ///< that may read this value
};

/// The parameters in a graph. A value is a parameter by its name, else by its
/// contents, else by its contents in another order (transposed, reshaped). A
/// copy (Identity, Cast, Transpose, QuantizeLinear, DequantizeLinear) of a
/// parameter is that parameter, unless its own name says that it is another:
/// the TorchScript-based exporter stores equal parameters once and copies them
/// to the other names.
class ParameterValues {
public:
  /// `trace` may be null; then a parameter is read by the module that owns it.
  ParameterValues(mlir::ModuleOp module, const ModuleTree &tree,
                  const Trace *trace);

  const ParameterValue *find(mlir::Value value) const;

  /// What the parameter at `path` is known as: the first of tied ones.
  std::string identity(llvm::StringRef path) const;

  /// How many of the tree's parameters are in the graph, and how many it has.
  size_t matched() const { return seen.size(); }
  size_t total() const { return count; }

  /// How many initializers have a parameter's name and another size.
  size_t misfits() const { return misfitCount; }

  /// All values, in the graph's order.
  const llvm::MapVector<mlir::Value, ParameterValue> &all() const {
    return values;
  }

private:
  const ModuleTree &tree;
  size_t count = 0, misfitCount = 0;
  llvm::MapVector<mlir::Value, ParameterValue> values;
  llvm::StringSet<> seen;

  /// Full paths of parameters by what their contents are.
  using PathsByHash =
      llvm::DenseMap<uint64_t, llvm::SmallVector<std::string, 1>>;
  PathsByHash byContent, byValues;
  llvm::DenseSet<int64_t> sizes; ///< element counts of parameters with hashes
  /// Modules that read a parameter, by the path of the first of tied ones.
  llvm::StringMap<llvm::SetVector<ModuleId>> readers;
  /// What ParameterValue::modules refers to. A model just initialised has
  /// thousands of equal parameters, which share a list.
  std::deque<llvm::SmallVector<ModuleId, 2>> lists;

  void indexParameters();
  void indexReaders(const Trace &trace);
  void addInitializer(mlir::Value value, mlir::Attribute contents);
  void addCopies(mlir::ModuleOp module);
  void addReaders();
  bool matchContents(mlir::Value value, mlir::Attribute contents,
                     ParameterValue &result) const;
  llvm::ArrayRef<std::string> equalParameters(llvm::StringRef path) const;
  llvm::ArrayRef<ModuleId> readersOf(llvm::ArrayRef<std::string> paths);
};

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_EVIDENCE_PARAMETEREVIDENCE_H
