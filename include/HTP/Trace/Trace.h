// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A recorded run of a PyTorch model: trace.json in memory. Format:
// docs/formats/trace.md.

#ifndef HTP_TRACE_TRACE_H
#define HTP_TRACE_TRACE_H

#include "HTP/Hierarchy/ModuleTree.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Support/JSON.h"

#include <functional>
#include <memory>

namespace htp {

/// A value's number, unique within a trace.
using TraceValueId = int64_t;

/// The definition of a value: an input of the model or of a block, or an op's
/// output.
struct TraceValue {
  TraceValueId value = 0;
  std::string name;           ///< "linear_4"; may be empty
  std::optional<Shape> shape; ///< where known
  std::string dtype;          ///< may be empty
};

/// An argument of an op.
struct TraceArgument {
  enum class Kind { Value, Parameter, Constant, List };
  Kind kind = Kind::Constant;
  TraceValueId value = 0;               ///< Kind::Value
  std::string parameter;                ///< Kind::Parameter: full path
  llvm::json::Value constant = nullptr; ///< Kind::Constant: a scalar or null
  std::vector<TraceArgument> list;      ///< Kind::List
};

struct TraceBlock;

/// An op that ran, in the order of execution.
struct TraceOp {
  std::string kind;    ///< "aten::linear", "prim::If"
  ModuleId module = 0; ///< whose forward() ran it
  int64_t call = 0;    ///< the number of that call of the module, from 0
  std::vector<TraceArgument> inputs;
  std::vector<TraceValue> outputs;
  std::string file; ///< Python source, where known
  int64_t line = 0;
  std::vector<TraceBlock> blocks; ///< of control flow
};

/// A body of control flow.
struct TraceBlock {
  std::vector<TraceValue> inputs;
  std::vector<TraceOp> ops;
  std::vector<TraceArgument> outputs;
};

/// A trace.
struct Trace {
  ModuleTree tree; ///< includes the producer of the trace
  std::vector<TraceValue> inputs;
  std::vector<TraceArgument> outputs;
  std::vector<TraceOp> ops;

  /// Reads trace.json. An error names the place: "trace.ops[3].module: …".
  static llvm::Expected<Trace> parse(llvm::StringRef json);
};

/// Whether an op does not read its operands itself: blocks without inputs
/// (torch.cond) refer to outer values directly.
inline bool onlyHandsOn(const TraceOp &op) {
  return !op.blocks.empty() &&
         llvm::all_of(op.blocks, [](const TraceBlock &block) {
           return block.inputs.empty();
         });
}

/// Calls `visit` for the argument and everything in it, lists inside lists
/// included.
void forEachArgument(llvm::ArrayRef<TraceArgument> arguments,
                     llvm::function_ref<void(const TraceArgument &)> visit);

/// Calls `visit` for every op, an op before those in its blocks.
void forEachOp(llvm::ArrayRef<TraceOp> ops,
               llvm::function_ref<void(const TraceOp &)> visit);

/// Reads a trace from a file: trace.json, or a PyTorch archive (.pt, .pt2),
/// which is converted by running htp-trace. That program is searched next to
/// the running one and on PATH. Each file is read once per process: passes that
/// name the same file share one trace.
llvm::Expected<std::shared_ptr<const Trace>> loadTrace(llvm::StringRef file);

/// Starts to read a trace and to build its TraceProgram in the background;
/// loadTrace then waits for it to finish. Does nothing if
/// llvm::parallel::strategy allows only one thread.
class TracePrefetch {
public:
  explicit TracePrefetch(llvm::StringRef file);
  TracePrefetch(TracePrefetch &&) = default;
  /// Waits for the background thread.
  ~TracePrefetch();

private:
  std::function<void()> wait;
};

} // namespace htp

#endif // HTP_TRACE_TRACE_H
