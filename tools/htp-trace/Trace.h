// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The trace in memory, between the archive readers and the writer of
// trace.json. docs/formats/trace.md defines each field.

#ifndef HTP_TOOLS_TRACE_TRACE_H
#define HTP_TOOLS_TRACE_TRACE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace htp::trace {

/// An error in an archive. LibTorch throws exceptions, so the readers do as
/// well; `main` turns them into a message and exit code 1.
struct ArchiveError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Shape = std::vector<int64_t>; // -1: dynamic

struct Parameter {
  std::string name; // within its module
  const char *kind; // parameter, buffer or constant
  Shape shape;
  std::string dtype;
  std::optional<uint64_t> hash, valuesHash;
  std::string sketch; // empty: unknown
  std::string tied;   // path of the parameter whose storage it shares
};

struct Module {
  std::string path, qualified;
  bool torchNN = false;
  int64_t calls = 0;
  std::vector<std::string> aliases;
  std::vector<Parameter> parameters;

  /// The class name: what follows the last dot of the qualified one.
  llvm::StringRef className() const {
    return llvm::StringRef(qualified).rsplit('.').second.empty()
               ? llvm::StringRef(qualified)
               : llvm::StringRef(qualified).rsplit('.').second;
  }
};

/// An argument of an op: a value, a parameter, a constant, or a list of these.
struct Argument {
  using List = std::vector<Argument>;
  struct Value {
    int64_t id;
  };
  struct Parameter {
    std::string path;
  };
  std::variant<Value, Parameter, llvm::json::Value, List> what;
};

/// The definition of a value: an op's output, or an input of a block or of the
/// model.
struct Result {
  int64_t id = 0;
  std::string name;
  std::optional<Shape> shape;
  std::string dtype;
};

struct Source {
  std::string file;
  int64_t line = 0;
};

struct Block;

struct Op {
  std::string kind, module;
  int64_t call = 0;
  std::vector<Argument> inputs;
  std::vector<Result> outputs;
  std::optional<Source> source;
  std::vector<Block> blocks;
};

/// The body of a control flow op, or the whole model.
struct Block {
  std::vector<Result> inputs;
  std::vector<Op> ops;
  std::vector<Argument> outputs;
};

struct Trace {
  const char *source; // torchscript or export
  std::vector<Module> modules;
  Block body;
};

/// Writes `trace` as trace.json, version 1.
void writeTrace(llvm::raw_ostream &os, const Trace &trace);

/// Whether torch.nn defines the class.
bool definedByTorchNN(llvm::StringRef qualified);

/// The innermost frame of a Python stack that is not in PyTorch itself.
/// `frames` has the innermost frame first.
std::optional<Source> modelFrame(llvm::ArrayRef<Source> frames);

} // namespace htp::trace

#endif // HTP_TOOLS_TRACE_TRACE_H
