// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the sidecar of a tagged model: all that is known about every operation
// and initializer, as JSON. Format: docs/formats/op-metadata.md.

#ifndef HTP_TARGET_OPMETADATA_H
#define HTP_TARGET_OPMETADATA_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace htp {

/// What is written: everything; only modules and the model as a whole; or these
/// with their costs (Figures.h).
enum class OpMetadataParts { All, Modules, Figures };

/// Streams the module tree, statistics, operations and initializers.
llvm::LogicalResult
writeOpMetadata(mlir::ModuleOp module, llvm::raw_ostream &os,
                OpMetadataParts parts = OpMetadataParts::All);

} // namespace htp

#endif // HTP_TARGET_OPMETADATA_H
