// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// To whom the importer shows metadata before it becomes part of the IR.

#ifndef HTP_TARGET_ONNX_METADATASINK_H
#define HTP_TARGET_ONNX_METADATASINK_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OperationSupport.h"

namespace htp {

/// Reads notes out of a model's metadata: the counterpart of MetadataSource.
/// Each `take…` removes the entries that it understands from the list and adds
/// attributes, under their full names, in their place; what is left of the list
/// becomes `onnx.metadata_props`. A large model has millions of entries, which
/// never become attributes this way.
class MetadataSink {
public:
  /// Views of the file's strings, alive during the import.
  struct Entry {
    llvm::StringRef key, value;
  };
  using Entries = llvm::SmallVectorImpl<Entry>;

  virtual ~MetadataSink() = default;

  /// Of the model: called first. `attrs` has the other fields of the model,
  /// under the names that they have there.
  virtual void takeFromModel(Entries &entries, mlir::NamedAttrList &attrs) = 0;
  /// Of a graph or a model-local function.
  virtual void takeFromFunction(Entries &entries,
                                mlir::NamedAttrList &attrs) = 0;
  /// Of an input of a graph.
  virtual void takeFromInput(Entries &entries, mlir::NamedAttrList &attrs) = 0;
  /// Of an initializer, or of a node, whose attributes `state` has.
  virtual void takeFromInitializer(Entries &entries,
                                   mlir::OperationState &state) = 0;
  virtual void takeFromNode(Entries &entries, mlir::OperationState &state) = 0;

  /// Called last, before the module is verified. `loc` is the file.
  virtual void finish(mlir::ModuleOp module, mlir::Location loc) = 0;
};

} // namespace htp

#endif // HTP_TARGET_ONNX_METADATASINK_H
