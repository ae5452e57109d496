// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The module tree as JSON: what a tagged file holds in its `htp.hierarchy`.

#ifndef HTP_HIERARCHY_TREEJSON_H
#define HTP_HIERARCHY_TREEJSON_H

#include "HTP/Hierarchy/ModuleTree.h"
#include "HTP/Support/JSONDocument.h"

namespace htp {

/// Parses a text in one of our formats; what is nested deeper is an error. The
/// text must outlive the document.
llvm::Expected<JSONDocument> parseJSON(llvm::StringRef text);

/// The fields of a `producer`, as in trace.json, of those that are known.
void writeProducer(const Producer &producer, llvm::json::OStream &json);

/// `{"version": 1, "modules": […], "producer": {…}}`, as in trace.json.
std::string treeToJSON(const ModuleTree &tree);

/// The inverse. An error names the place: "hierarchy.modules[3].path".
llvm::Expected<ModuleTree> treeFromJSON(llvm::StringRef text);

} // namespace htp

#endif // HTP_HIERARCHY_TREEJSON_H
