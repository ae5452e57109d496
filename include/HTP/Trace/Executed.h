// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one run of a model and of its graph showed: which values of the graph
// module calls took and returned. docs/formats/executed.md describes the file.

#ifndef HTP_TRACE_EXECUTED_H
#define HTP_TRACE_EXECUTED_H

#include "HTP/Hierarchy/ModuleTree.h"

namespace htp {

/// One run of one module. Values are given by name.
struct ExecutedCall {
  ModuleId module = 0; ///< in Executed::tree
  int64_t call = 0;
  int64_t parent = -1; ///< the call that made it; -1: the user
  std::vector<std::string> takes, returns;
  std::vector<std::string> near; ///< those returned that are not quite equal
  bool open = false;             ///< takes something that the graph lacks
  bool partly = false;           ///< may return something that the graph lacks
};

struct Executed {
  ModuleTree tree;
  std::vector<ExecutedCall> calls; ///< in the order in which they began
  /// Values that may be on either side of a border.
  std::vector<std::string> unclear;

  /// Fails, naming the place in the file, on anything that the format does not
  /// define.
  static llvm::Expected<Executed> parse(llvm::StringRef text);
  static llvm::Expected<Executed> load(llvm::StringRef path);
};

} // namespace htp

#endif // HTP_TRACE_EXECUTED_H
