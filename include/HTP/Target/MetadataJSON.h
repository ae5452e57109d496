// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all JSON about a tagged model tells in the same words: modules,
// statistics, who uses a weight. Format: docs/formats/op-metadata.md.

#ifndef HTP_TARGET_METADATAJSON_H
#define HTP_TARGET_METADATAJSON_H

#include "HTP/Hierarchy/Scopes.h"
#include "HTP/Target/GraphStatistics.h"
#include "HTP/Target/TaggedGraph.h"

#include "llvm/Support/JSON.h"

namespace htp {

/// The shortest decimal that reads back as the same number: 0.97, where
/// llvm::json writes 0.96999999999999997.
void writeNumber(double value, llvm::json::OStream &json);

/// The fields of a module but its parameters.
void writeModule(const TaggedGraph &graph, const GraphStatistics &statistics,
                 ModuleId id, llvm::json::OStream &json);

/// One of these, as an object.
void writeParameter(const Parameter &parameter, llvm::json::OStream &json);

/// The fields of the statistics, with how well a trace or a reference fits.
void writeStatistics(const TaggedGraph &graph,
                     const GraphStatistics &statistics,
                     llvm::json::OStream &json);

/// The line of Python code: what tagging found out, else the exporter's note.
std::optional<SourceLine> sourceOf(mlir::Operation *op);

/// All modules that use an initializer, by the tags of what reads it; where
/// those are not known, what the passes found possible.
std::vector<ModuleId> usersOf(const TaggedGraph &graph,
                              TaggedGraph::ValueRef ref);

/// The module that declares the parameter which an initializer is.
std::optional<ModuleId> ownerOf(const TaggedGraph &graph,
                                TaggedGraph::ValueRef ref);

/// Tags below this are worth a look.
inline constexpr double kSure = 0.9;

/// Whether other evidence spoke for other modules; that others read what it
/// makes is none.
bool isContested(TagAttr tag);

/// Whether a node is worth a look: its tag is missing, not sure or contested.
bool isUnsure(const TaggedGraph::Node &node);

} // namespace htp

#endif // HTP_TARGET_METADATAJSON_H
