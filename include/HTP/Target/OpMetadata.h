// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything that is known about every operation and initializer, as JSON: the
// sidecar of a tagged model. Format: docs/formats/op-metadata.md.

#ifndef HTP_TARGET_OPMETADATA_H
#define HTP_TARGET_OPMETADATA_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace htp {

/// What is written: all, or what is known of modules and the model as a whole,
/// alone or with what modules cost.
enum class OpMetadataParts { All, Modules, Figures };

/// Writes the module tree, statistics, operations and initializers, one after
/// the other as a stream.
llvm::LogicalResult
writeOpMetadata(mlir::ModuleOp module, llvm::raw_ostream &os,
                OpMetadataParts parts = OpMetadataParts::All);

} // namespace htp

#endif // HTP_TARGET_OPMETADATA_H
