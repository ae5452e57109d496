// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page of `htp view`: one HTML file with a model's modules, figures and
// graph, which works offline. The page itself is built from viewer/
// (TypeScript); this embeds the document that it shows.

#ifndef HTP_TARGET_PAGE_H
#define HTP_TARGET_PAGE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace htp {

/// Writes the page. `file` is the model's name on the page.
llvm::LogicalResult writePage(mlir::ModuleOp module, llvm::StringRef file,
                              llvm::raw_ostream &os);

} // namespace htp

#endif // HTP_TARGET_PAGE_H
