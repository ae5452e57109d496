// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The page of `htp view`: one HTML file that holds a model's modules, figures
// and graph, and works without a network. The page itself is built from viewer/
// (TypeScript); here the document that it shows is put into it.

#ifndef HTP_TARGET_PAGE_H
#define HTP_TARGET_PAGE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

namespace htp {

/// Writes the page. `file` is the name that the page gives the model.
llvm::LogicalResult writePage(mlir::ModuleOp module, llvm::StringRef file,
                              llvm::raw_ostream &os);

} // namespace htp

#endif // HTP_TARGET_PAGE_H
