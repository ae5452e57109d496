// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Supplies the exporter with metadata that is not in the IR as such.

#ifndef HTP_TARGET_ONNX_METADATASOURCE_H
#define HTP_TARGET_ONNX_METADATASOURCE_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

namespace htp {

/// Computes metadata on the fly, in addition to the attribute
/// `onnx.metadata_props`. There are many entries per node, most of them unique:
/// as attributes they would cost more than the rest of the export.
class MetadataSource {
public:
  using AddFn =
      llvm::function_ref<void(llvm::StringRef key, llvm::StringRef value)>;

  virtual ~MetadataSource() = default;

  /// Adds the entries that a node, an initializer, a graph (given by its
  /// function), a model-local function or the model (given by its module) gets
  /// in the file after those of its attribute.
  virtual void addMetadata(mlir::Operation *op, AddFn add) = 0;

  /// The same for an input of the graph.
  virtual void addMetadata(mlir::BlockArgument input, AddFn add) = 0;

  /// Whether this source alone writes `key`: entries for it in an attribute are
  /// outdated and dropped.
  virtual bool owns(llvm::StringRef key) const = 0;

  /// The oldest ir_version that can hold this metadata.
  virtual int64_t minIRVersion() const = 0;
};

} // namespace htp

#endif // HTP_TARGET_ONNX_METADATASOURCE_H
