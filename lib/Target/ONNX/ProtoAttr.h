// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts any protobuf message to a dictionary attribute, and back.
//
// The importer handles the fields that have a natural counterpart in MLIR; the
// remaining ones go through here, so that none can be forgotten: every field
// that is set is encoded under its name, unknown fields as bytes. {key, value}
// entries become pairs:
//
//   onnx.opset_import = [{domain = "", version = 17 : si64}]
//   onnx.metadata_props = [["source", "pytorch"]]

#ifndef HTP_LIB_TARGET_ONNX_PROTOATTR_H
#define HTP_LIB_TARGET_ONNX_PROTOATTR_H

#include "HTP/Target/ONNX/ModelFile.h"
#include "HTP/Target/ONNX/ModelWriter.h"

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OperationSupport.h"

#include <functional>

namespace htp {

class ProtoEncoder {
public:
  ProtoEncoder(mlir::MLIRContext *context, std::shared_ptr<ModelFile> file)
      : context(context), file(std::move(file)) {}

  /// Adds an attribute for every field that is set and whose number is not in
  /// `skip`.
  void encodeFields(const google::protobuf::Message &message,
                    mlir::NamedAttrList &attrs,
                    llvm::ArrayRef<int> skip = {}) const;

  /// Adds an attribute for one field, if it is set.
  void encodeField(const google::protobuf::Message &message,
                   mlir::NamedAttrList &attrs, int number) const;

  mlir::DictionaryAttr encode(const google::protobuf::Message &message,
                              llvm::ArrayRef<int> skip = {}) const;

  /// Entries of maps as pairs, everything else by field names.
  mlir::Attribute encodeMessage(const google::protobuf::Message &message) const;

private:
  void encodeSpans(const google::protobuf::Message &message,
                   mlir::NamedAttrList &attrs, llvm::ArrayRef<int> skip) const;
  mlir::Attribute encodeValue(const google::protobuf::Message &message,
                              const google::protobuf::FieldDescriptor *field,
                              int index) const;
  mlir::Attribute
  encodeRepeated(const google::protobuf::Message &message,
                 const google::protobuf::FieldDescriptor *field) const;

  mlir::MLIRContext *context;
  std::shared_ptr<ModelFile> file;
};

class ProtoDecoder {
public:
  /// Kept, so that callers may pass a temporary.
  using EmitError = std::function<mlir::InFlightDiagnostic()>;

  ProtoDecoder(ModelWriter &writer, EmitError emitError)
      : writer(writer), emitError(std::move(emitError)) {}

  /// Sets the fields that `attrs` names. Keys that are no field of the message
  /// are an error, except those in `ignore`.
  mlir::LogicalResult decode(llvm::ArrayRef<mlir::NamedAttribute> attrs,
                             google::protobuf::Message &message,
                             llvm::ArrayRef<llvm::StringRef> ignore = {}) const;

private:
  mlir::LogicalResult
  decodeField(mlir::Attribute attr,
              const google::protobuf::FieldDescriptor *field,
              google::protobuf::Message &message) const;
  mlir::LogicalResult
  decodeRepeated(mlir::Attribute attr,
                 const google::protobuf::FieldDescriptor *field,
                 google::protobuf::Message &message) const;
  mlir::LogicalResult
  decodeValue(mlir::Attribute attr,
              const google::protobuf::FieldDescriptor *field, bool repeated,
              google::protobuf::Message &message) const;
  mlir::LogicalResult decodeMessage(mlir::Attribute attr,
                                    google::protobuf::Message &message) const;
  mlir::LogicalResult mismatch(const google::protobuf::FieldDescriptor *field,
                               mlir::Attribute attr) const;

  ModelWriter &writer;
  EmitError emitError;
};

/// A resource that holds `bytes`, which `owner` keeps alive.
mlir::DenseResourceElementsAttr
getBorrowedResource(mlir::ShapedType type, llvm::StringRef name,
                    llvm::ArrayRef<char> bytes, std::shared_ptr<void> owner);

/// A resource with a copy of `bytes`.
mlir::DenseResourceElementsAttr getCopiedResource(mlir::ShapedType type,
                                                  llvm::StringRef name,
                                                  llvm::ArrayRef<char> bytes);

} // namespace htp

#endif // HTP_LIB_TARGET_ONNX_PROTOATTR_H
