// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The module tree as JSON, the form in which a tagged file stores it
// (`htp.hierarchy`).

#ifndef HTP_HIERARCHY_TREEJSON_H
#define HTP_HIERARCHY_TREEJSON_H

#include "HTP/Hierarchy/ModuleTree.h"
#include "HTP/Support/JSONDocument.h"

namespace htp {

/// Parses JSON in one of HTP's formats; nesting deeper than these allow is an
/// error. The text must outlive the document.
llvm::Expected<JSONDocument> parseJSON(llvm::StringRef text);

/// Writes the known fields of a `producer`, as in trace.json.
void writeProducer(const Producer &producer, llvm::json::OStream &json);

/// `{"version": 1, "modules": […], "producer": {…}}`, as in trace.json.
std::string treeToJSON(const ModuleTree &tree);

/// The inverse. An error names the place: "hierarchy.modules[3].path".
llvm::Expected<ModuleTree> treeFromJSON(llvm::StringRef text);

} // namespace htp

#endif // HTP_HIERARCHY_TREEJSON_H
