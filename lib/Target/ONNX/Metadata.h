// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists of metadata, as attributes of the IR hold them.

#ifndef HTP_LIB_TARGET_ONNX_METADATA_H
#define HTP_LIB_TARGET_ONNX_METADATA_H

#include "HTP/Dialect/HTP/IR/Nodes.h"

#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace htp {

/// A note to ourselves, for removeEmbeddedTags, beside kAddedKey: the model's
/// ir_version before.
inline constexpr llvm::StringLiteral kIRVersionKey = "htp.ir_version";
/// Set where tags are node attributes, with the names of those.
inline constexpr llvm::StringLiteral kStorageKey = "htp.storage";
inline constexpr llvm::StringLiteral kSourceModule = "source_module";
inline constexpr llvm::StringLiteral kHierarchyTags = "hierarchy_tags";

inline constexpr llvm::StringLiteral kIRVersion = "onnx.ir_version";

/// A list of keys and values in the order of the file.
class Metadata {
public:
  /// `attr` is the list of an operation, an argument or a module, or null.
  explicit Metadata(mlir::Attribute attr);

  bool empty() const { return list.empty(); }
  /// Arrays of two, of which the first is a string.
  llvm::ArrayRef<mlir::Attribute> entries() const { return list; }
  static llvm::StringRef keyOf(mlir::Attribute entry) {
    return mlir::cast<mlir::StringAttr>(mlir::cast<mlir::ArrayAttr>(entry)[0]);
  }
  /// Null where the value is no string.
  static mlir::StringAttr valueOf(mlir::Attribute entry) {
    return mlir::dyn_cast<mlir::StringAttr>(
        mlir::cast<mlir::ArrayAttr>(entry)[1]);
  }
  /// The value of `key`, or null.
  mlir::StringAttr find(llvm::StringRef key) const;

  void add(mlir::MLIRContext *context, llvm::StringRef key,
           llvm::StringRef value);
  /// Drops what was added when the model was tagged.
  void removeOurs();

  /// Stores the list under `name`, which is kMetadataAttr; where it is empty,
  /// there is no attribute.
  void store(mlir::Operation *op, mlir::StringAttr name) const;
  void store(mlir::FunctionOpInterface function, unsigned argument) const;

private:
  llvm::SmallVector<mlir::Attribute, 16> list;
};

/// Calls `visit` for every argument of every function with a body.
void forEachArgument(
    mlir::Operation *module,
    llvm::function_ref<void(mlir::FunctionOpInterface, unsigned)> visit);

} // namespace htp

#endif // HTP_LIB_TARGET_ONNX_METADATA_H
