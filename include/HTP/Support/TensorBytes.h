// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dialect interface through which passes read the bytes of tensor attributes
// of dialects that they do not know.

#ifndef HTP_SUPPORT_TENSORBYTES_H
#define HTP_SUPPORT_TENSORBYTES_H

#include "mlir/IR/DialectInterface.h"
#include "llvm/ADT/ArrayRef.h"

#include <optional>

namespace htp {

/// Implemented by dialects whose attributes refer to data stored elsewhere.
class TensorBytesInterface
    : public mlir::DialectInterface::Base<TensorBytesInterface> {
public:
  explicit TensorBytesInterface(mlir::Dialect *dialect) : Base(dialect) {}

  /// The bytes, row-major, valid as long as the context; nothing if the
  /// attribute is not a tensor or its data is unavailable.
  virtual std::optional<llvm::ArrayRef<char>>
  getBytes(mlir::Attribute tensor) const = 0;
};

} // namespace htp

#endif // HTP_SUPPORT_TENSORBYTES_H
