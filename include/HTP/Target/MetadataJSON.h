// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the parts that all JSON outputs about a tagged model have in common:
// modules, statistics, users of weights. Format: docs/formats/op-metadata.md.

#ifndef HTP_TARGET_METADATAJSON_H
#define HTP_TARGET_METADATAJSON_H

#include "HTP/Hierarchy/Scopes.h"
#include "HTP/Target/GraphStatistics.h"
#include "HTP/Target/TaggedGraph.h"

#include "llvm/Support/JSON.h"

namespace htp {

/// Writes the shortest decimal that reads back as the same number: 0.97, where
/// llvm::json would write 0.96999999999999997.
void writeNumber(double value, llvm::json::OStream &json);

/// Writes the fields of a module except its parameters.
void writeModule(const TaggedGraph &graph, const GraphStatistics &statistics,
                 ModuleId id, llvm::json::OStream &json);

/// Writes a parameter as an object.
void writeParameter(const Parameter &parameter, llvm::json::OStream &json);

/// Writes the fields of the statistics, including how well a trace or a
/// reference fits.
void writeStatistics(const TaggedGraph &graph,
                     const GraphStatistics &statistics,
                     llvm::json::OStream &json);

/// The line of Python code that `op` came from: as found by tagging, or else
/// from the exporter's metadata.
std::optional<SourceLine> sourceOf(mlir::Operation *op);

/// All modules that use an initializer, according to the tags of its readers;
/// if these have none, the candidates that the passes recorded.
std::vector<ModuleId> usersOf(const TaggedGraph &graph,
                              TaggedGraph::ValueRef ref);

/// The module that declares the parameter held by an initializer.
std::optional<ModuleId> ownerOf(const TaggedGraph &graph,
                                TaggedGraph::ValueRef ref);

/// Tags with a lower confidence are worth a look.
inline constexpr double kSure = 0.9;

/// Whether there was evidence for other modules. That other modules read the
/// node's results does not count.
bool isContested(TagAttr tag);

/// Whether a node is worth a look: its tag is missing, unsure or contested.
bool isUnsure(const TaggedGraph::Node &node);

} // namespace htp

#endif // HTP_TARGET_METADATAJSON_H
