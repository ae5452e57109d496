// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The module tree as JSON: what a tagged file holds in its `htp.hierarchy`.

#ifndef HTP_HIERARCHY_TREEJSON_H
#define HTP_HIERARCHY_TREEJSON_H

#include "HTP/Hierarchy/ModuleTree.h"

#include "llvm/Support/JSON.h"

namespace htp {

/// Parses JSON. LLVM's parser is recursive: text that is nested deeper than any
/// of our formats is an error here, not a crash.
llvm::Expected<llvm::json::Value> parseJSON(llvm::StringRef text);

/// `{"version": 1, "modules": […]}`, each module as in trace.json.
llvm::json::Value treeToJSON(const ModuleTree &tree);

/// The inverse. An error names the place: "hierarchy.modules[3].path".
llvm::Expected<ModuleTree> treeFromJSON(llvm::StringRef text);

} // namespace htp

#endif // HTP_HIERARCHY_TREEJSON_H
