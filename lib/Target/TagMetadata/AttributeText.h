// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts HTP's attributes to text for a file, and back.

#ifndef HTP_LIB_TARGET_TAGMETADATA_ATTRIBUTETEXT_H
#define HTP_LIB_TARGET_TAGMETADATA_ATTRIBUTETEXT_H

#include "mlir/IR/Attributes.h"

namespace htp {

/// A string is written as it is, anything else as JSON: strings, arrays and
/// dictionaries directly, other attributes as {"mlir": "<text>"}. Locations are
/// left out, as ONNX has none.
std::string attributeToText(mlir::Attribute attribute);

/// The inverse, for the text under `key`; null if attributeToText did not write
/// it.
mlir::Attribute attributeFromText(llvm::StringRef key, llvm::StringRef text,
                                  mlir::MLIRContext *context);

} // namespace htp

#endif // HTP_LIB_TARGET_TAGMETADATA_ATTRIBUTETEXT_H
