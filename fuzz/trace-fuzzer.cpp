// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any bytes at all: reading them as a run's record must end in an error or in
// calls of modules that exist, and reading them as trace.json in an error or in
// a trace, whose tree has tags and comes back from the form in which a tagged
// model carries it.

#include "HTP/Hierarchy/TagNames.h"
#include "HTP/Hierarchy/TreeJSON.h"
#include "HTP/Trace/Executed.h"
#include "HTP/Trace/Trace.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Error.h"

#include <cstdio>
#include <cstdlib>

using namespace htp;

static void requireThat(bool condition, const char *what) {
  if (condition)
    return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

static void readRun(llvm::StringRef text) {
  auto run = Executed::parse(text);
  if (!run)
    return llvm::consumeError(run.takeError());
  for (auto [number, call] : llvm::enumerate(run->calls)) {
    requireThat(call.module < run->tree.size(), "a call of no module");
    requireThat(call.parent < int64_t(number), "a call before its parent's");
  }
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::StringRef text(reinterpret_cast<const char *>(data), size);
  readRun(text);
  auto trace = Trace::parse(text);
  if (!trace) {
    llvm::consumeError(trace.takeError());
    return 0;
  }
  TagNames tags(trace->tree);
  for (ModuleId id : trace->tree.ids())
    requireThat(tags[id].starts_with("/"), "a module has no tag");
  std::string tree = treeToJSON(trace->tree);
  auto again = treeFromJSON(tree);
  if (!again)
    std::fputs((llvm::toString(again.takeError()) + "\n").c_str(), stderr);
  requireThat(static_cast<bool>(again), "the tree cannot be read again");
  requireThat(treeToJSON(*again) == tree, "the tree came back different");
  return 0;
}
