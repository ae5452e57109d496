// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds out which parameter of the model each value of the graph is, and which
// modules read it.

#ifndef HTP_LIB_TRANSFORMS_EVIDENCE_PARAMETEREVIDENCE_H
#define HTP_LIB_TRANSFORMS_EVIDENCE_PARAMETEREVIDENCE_H

#include "ParameterIndex.h"
#include "SketchMatches.h"

#include "HTP/Alignment/Emission.h"
#include "HTP/Trace/Trace.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"

#include <deque>

namespace htp {

/// How a value of the graph was found to be a parameter.
enum class ParameterMatch { Name, Content, Values, Sketch };

/// A value of the graph that is a parameter, or a copy of one.
struct ParameterValue {
  ParameterId parameter = 0;
  ParameterMatch match = ParameterMatch::Name;
  /// Whether it may as well be another parameter with equal contents.
  bool ambiguous = false;
  llvm::ArrayRef<ModuleId> modules; ///< that may read this value
};

/// The parameters in a graph. A value is recognised as a parameter by its name,
/// else by its contents, else by its contents in another order (transposed,
/// reshaped), else by a sketch of them (rounded, quantized, packed).
///
/// A copy (Identity, Cast, Transpose, QuantizeLinear, DequantizeLinear) of a
/// parameter is that parameter, unless its own name says that it is another
/// one: the TorchScript-based exporter stores equal parameters once and copies
/// them to the other names.
class ParameterValues {
public:
  /// `trace` may be null; then a parameter is read by the module that owns it.
  /// `sketches` (of the parameters of `tree`) may be null, too.
  ParameterValues(mlir::ModuleOp module, const ModuleTree &tree,
                  const Trace *trace, SketchMatches *sketches = nullptr);

  const ParameterValue *find(mlir::Value value) const;

  /// The path of the parameter that a value is.
  std::string path(const ParameterValue &value) const {
    return index.path(value.parameter);
  }
  /// The module that has the parameter that a value is.
  ModuleId owner(const ParameterValue &value) const {
    return tree[index.owner(value.parameter)].canonical;
  }
  /// The path that stands for the parameter: that of the first one if several
  /// are tied.
  std::string identity(const ParameterValue &value) const {
    return index.path(index.identity(value.parameter));
  }
  std::string identity(llvm::StringRef path) const;

  /// The module of a node of this type that reads the parameter; nothing if it
  /// may be one of several. Traced ops that only pass the parameter on (such as
  /// an expansion to the size that it already has) may have left no node; then
  /// the ops after them are its readers.
  std::optional<ModuleId> readerFor(const ParameterValue &value,
                                    llvm::StringRef opType) const;

  /// Whether `value` may also be a parameter of `module` that the graph lacks:
  /// exporters store equal parameters once, under the name of one of them.
  bool mayStandFor(mlir::Value value, ModuleId module) const;

  /// How many of the tree's parameters are in the graph, and how many it has.
  size_t matched() const { return seen.count(); }
  size_t total() const { return index.count(); }

  /// How many initializers have the name of a parameter but another size.
  size_t misfits() const { return misfitCount; }

  /// All values, in the graph's order.
  const llvm::MapVector<mlir::Value, ParameterValue> &all() const {
    return values;
  }

private:
  const ModuleTree &tree;
  ParameterIndex index;
  SketchMatches *sketches;
  size_t misfitCount = 0;
  llvm::MapVector<mlir::Value, ParameterValue> values;
  /// The parameters that are packed in a value, or that it may be any of.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<ParameterId, 4>> several;
  llvm::BitVector seen; ///< identities of parameters in the graph

  /// The modules that read a parameter, by its identity.
  std::vector<llvm::SmallVector<ModuleId, 1>> readers;
  /// The ops that read a parameter, by its identity: directly, and behind ops
  /// that only passed it on. Kinds are indices into `rules`.
  struct Reader {
    ModuleId module;
    unsigned kind;
    bool operator==(const Reader &other) const {
      return module == other.module && kind == other.kind;
    }
  };
  std::vector<llvm::SmallVector<Reader, 1>> direct, behind;
  std::vector<EmissionRule> rules;
  /// The modules that read any of several equal parameters. A freshly
  /// initialised model has thousands of equal parameters, which share a list.
  std::deque<llvm::SmallVector<ModuleId, 0>> lists;

  void indexReaders(const Trace &trace);
  void addInitializer(mlir::Value value, mlir::Attribute contents);
  void addCopies(mlir::ModuleOp module);
  void addReaders();
  bool matchContents(mlir::Value value, mlir::Attribute contents,
                     ParameterValue &result) const;
  bool matchSketch(mlir::Value value, ParameterValue &result);
  llvm::ArrayRef<ModuleId> readersOf(ParameterId parameter) const;
  llvm::ArrayRef<ModuleId> readersOfAny(llvm::ArrayRef<ParameterId> several);
};

} // namespace htp

#endif // HTP_LIB_TRANSFORMS_EVIDENCE_PARAMETEREVIDENCE_H
