// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a pass gets at the bytes of a tensor attribute of a dialect that it does
// not know.

#ifndef HTP_SUPPORT_TENSORBYTES_H
#define HTP_SUPPORT_TENSORBYTES_H

#include "mlir/IR/DialectInterface.h"
#include "llvm/ADT/ArrayRef.h"

#include <optional>

namespace htp {

/// Implemented by dialects with attributes that stand for data elsewhere.
class TensorBytesInterface
    : public mlir::DialectInterface::Base<TensorBytesInterface> {
public:
  explicit TensorBytesInterface(mlir::Dialect *dialect) : Base(dialect) {}

  /// The bytes, row-major, alive as long as the context; nothing where the
  /// attribute is no tensor or its data cannot be had.
  virtual std::optional<llvm::ArrayRef<char>>
  getBytes(mlir::Attribute tensor) const = 0;
};

} // namespace htp

#endif // HTP_SUPPORT_TENSORBYTES_H
