// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the fuzz targets share: bytes → a module → bytes, and what must hold.

#ifndef HTP_FUZZ_MODEL_H
#define HTP_FUZZ_MODEL_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <string>

namespace fuzz {

/// Ends the process, which libFuzzer takes for a finding, unless it holds.
void require(bool condition, const char *what);

/// Begins with a new input, when no module of the last one is left: a context
/// never frees what it has made unique, so there is a new one now and then.
void beginInput();

enum class Tags { Leave, Read };

/// The module of a model's bytes, with its metadata as they are or as tags.
/// Null where the bytes are no model that HTP takes.
mlir::OwningOpRef<mlir::ModuleOp> readModel(llvm::StringRef bytes, Tags tags);

/// The bytes of the model that a module is; nothing where it cannot be written.
std::optional<std::string> writeModel(mlir::ModuleOp module);

/// Whether two models are equal in every field.
bool isSameModel(llvm::StringRef one, llvm::StringRef other);

} // namespace fuzz

#endif // HTP_FUZZ_MODEL_H
