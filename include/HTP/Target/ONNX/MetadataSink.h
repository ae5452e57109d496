// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets a client of the importer take over metadata before it becomes part of
// the IR.

#ifndef HTP_TARGET_ONNX_METADATASINK_H
#define HTP_TARGET_ONNX_METADATASINK_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OperationSupport.h"

namespace htp {

/// Consumes a model's metadata: the counterpart of MetadataSource. Each `take…`
/// removes the entries that it understands from the list and adds attributes
/// (with full names) instead; the remaining entries become
/// `onnx.metadata_props`. This avoids creating attributes for metadata that is
/// not kept, of which a large model has millions of entries.
class MetadataSink {
public:
  /// Views of the file's strings, valid during the import.
  struct Entry {
    llvm::StringRef key, value;
  };
  using Entries = llvm::SmallVectorImpl<Entry>;

  virtual ~MetadataSink() = default;

  /// For the model; called first. `attrs` already has the model's other fields
  /// as attributes.
  virtual void takeFromModel(Entries &entries, mlir::NamedAttrList &attrs) = 0;
  /// For a graph or a model-local function.
  virtual void takeFromFunction(Entries &entries,
                                mlir::NamedAttrList &attrs) = 0;
  /// For an input of a graph.
  virtual void takeFromInput(Entries &entries, mlir::NamedAttrList &attrs) = 0;
  /// For an initializer or a node, whose attributes are in `state`.
  virtual void takeFromInitializer(Entries &entries,
                                   mlir::OperationState &state) = 0;
  virtual void takeFromNode(Entries &entries, mlir::OperationState &state) = 0;

  /// Called last, before the module is verified. `loc` names the file.
  virtual void finish(mlir::ModuleOp module, mlir::Location loc) = 0;
};

} // namespace htp

#endif // HTP_TARGET_ONNX_METADATASINK_H
