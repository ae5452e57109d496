// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes of HTP's as text in a file, and back.

#ifndef HTP_LIB_TARGET_TAGMETADATA_ATTRIBUTETEXT_H
#define HTP_LIB_TARGET_TAGMETADATA_ATTRIBUTETEXT_H

#include "mlir/IR/Attributes.h"

namespace htp {

/// A string as it is. Of anything else JSON: strings, arrays and dictionaries
/// as such, what JSON has no form for as {"mlir": "<text>"}. Locations, which
/// ONNX does not have, are left out.
std::string attributeToText(mlir::Attribute attribute);

/// The inverse, for what stands under `key`; null where the text is not what
/// attributeToText writes.
mlir::Attribute attributeFromText(llvm::StringRef key, llvm::StringRef text,
                                  mlir::MLIRContext *context);

} // namespace htp

#endif // HTP_LIB_TARGET_TAGMETADATA_ATTRIBUTETEXT_H
