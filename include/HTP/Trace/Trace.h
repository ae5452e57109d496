// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is known about the run of a PyTorch model: trace.json in memory. The
// format is described in docs/formats/trace.md.

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

/// A value where it is made: an input of the model or of a block, or an op's
/// output.
struct TraceValue {
  TraceValueId value = 0;
  std::string name;           ///< "linear_4"; may be empty
  std::optional<Shape> shape; ///< where known
  std::string dtype;          ///< may be empty
};

/// What an op reads.
struct TraceArgument {
  enum class Kind { Value, Parameter, Constant, List };
  Kind kind = Kind::Constant;
  TraceValueId value = 0;               ///< Kind::Value
  std::string parameter;                ///< Kind::Parameter: its full path
  llvm::json::Value constant = nullptr; ///< Kind::Constant: a scalar or null
  std::vector<TraceArgument> list;      ///< Kind::List
};

struct TraceBlock;

/// An op that ran, in the order of execution.
struct TraceOp {
  std::string kind;    ///< "aten::linear", "prim::If"
  ModuleId module = 0; ///< whose forward() ran it
  int64_t call = 0;    ///< the how manieth call of that module
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
  ModuleTree tree; ///< and who wrote the trace
  std::vector<TraceValue> inputs;
  std::vector<TraceArgument> outputs;
  std::vector<TraceOp> ops;

  /// Reads trace.json. An error names the place: "trace.ops[3].module: …".
  static llvm::Expected<Trace> parse(llvm::StringRef json);
};

/// Whether an op only hands its operands on to its bodies, which name them
/// themselves (torch.cond): it does not read them.
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

/// Reads a trace from a file: trace.json, or an archive of PyTorch (.pt, .pt2),
/// on which htp-trace is then run. It is looked for beside the running program
/// and on PATH. A file is read once per process: passes that name the same file
/// share one trace.
llvm::Expected<std::shared_ptr<const Trace>> loadTrace(llvm::StringRef file);

/// Reads a trace and makes a program of it (TraceProgram.h) in the background,
/// while a program does something else; loadTrace then waits for the rest.
/// Nothing happens where llvm::parallel::strategy allows one thread only.
class TracePrefetch {
public:
  explicit TracePrefetch(llvm::StringRef file);
  TracePrefetch(TracePrefetch &&) = default;
  /// Waits: no thread outlives whoever began it.
  ~TracePrefetch();

private:
  std::function<void()> wait;
};

} // namespace htp

#endif // HTP_TRACE_TRACE_H
