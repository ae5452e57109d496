// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any bytes at all: reading them as trace.json must end in an error or in a
// trace, whose tree has tags and comes back from the form in which a tagged
// model carries it.

#include "HTP/Hierarchy/TagNames.h"
#include "HTP/Hierarchy/TreeJSON.h"
#include "HTP/Trace/Trace.h"

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

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  auto trace =
      Trace::parse(llvm::StringRef(reinterpret_cast<const char *>(data), size));
  if (!trace) {
    llvm::consumeError(trace.takeError());
    return 0;
  }
  TagNames tags(trace->tree);
  for (ModuleId id : trace->tree.ids())
    requireThat(tags[id].starts_with("/"), "a module has no tag");
  std::string text = treeToJSON(trace->tree);
  auto again = treeFromJSON(text);
  if (!again)
    std::fputs((llvm::toString(again.takeError()) + "\n").c_str(), stderr);
  requireThat(static_cast<bool>(again), "the tree cannot be read again");
  requireThat(treeToJSON(*again) == text, "the tree came back different");
  return 0;
}
