// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where the exporter asks for metadata that is not in the IR as such.

#ifndef HTP_TARGET_ONNX_METADATASOURCE_H
#define HTP_TARGET_ONNX_METADATASOURCE_H

#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

namespace htp {

/// Knows metadata by other means than the attribute `onnx.metadata_props`. A
/// model has many entries for each node, most of them unlike all others: as
/// attributes they would cost more than all the rest of the export.
class MetadataSource {
public:
  using AddFn =
      llvm::function_ref<void(llvm::StringRef key, llvm::StringRef value)>;

  virtual ~MetadataSource() = default;

  /// Adds the entries that a node, an initializer, a graph (its function), a
  /// model-local function or the model (its module) has in the file beside
  /// those of its attribute, which come first.
  virtual void addMetadata(mlir::Operation *op, AddFn add) = 0;

  /// The same for an input of the graph.
  virtual void addMetadata(mlir::BlockArgument input, AddFn add) = 0;

  /// Whether entries under this key are this source's alone: what an attribute
  /// says under it is out of date.
  virtual bool owns(llvm::StringRef key) const = 0;

  /// The oldest ir_version that can hold this metadata.
  virtual int64_t minIRVersion() const = 0;
};

} // namespace htp

#endif // HTP_TARGET_ONNX_METADATASOURCE_H
