// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Converts between TypeProto or ValueInfoProto and MLIR types with attributes.

#ifndef HTP_LIB_TARGET_ONNX_TYPES_H
#define HTP_LIB_TARGET_ONNX_TYPES_H

#include "ProtoAttr.h"

#include "mlir/IR/Types.h"

namespace htp {

/// The MLIR type; `none` if the message does not specify one. Null, with the
/// reason in `error`, for an invalid type, such as one with negative
/// dimensions.
mlir::Type importType(const ::onnx::TypeProto &proto,
                      mlir::MLIRContext *context, std::string &error);

/// Writes the simplest message for the type. Sets nothing for `none`.
void exportType(mlir::Type type, ::onnx::TypeProto &proto);

/// Stores in `rest` what a ValueInfoProto holds beyond name and MLIR type:
/// `dim_params` ("0:batch,1:length", as in onnx-mlir), or the whole `type` if
/// that is not enough, or `no_type`; `as_is` if the types contradict each
/// other; and the fields `doc_string` and `metadata_props`.
void importValueInfo(const ::onnx::ValueInfoProto &info, mlir::Type type,
                     const ProtoEncoder &encoder, mlir::NamedAttrList &rest,
                     bool skipMetadata = false);

/// The inverse. A recorded type that contradicts `type`, as a pass changed
/// that, is ignored.
mlir::LogicalResult exportValueInfo(llvm::StringRef name, mlir::Type type,
                                    mlir::DictionaryAttr rest,
                                    const ProtoDecoder &decoder,
                                    ::onnx::ValueInfoProto &info);

} // namespace htp

#endif // HTP_LIB_TARGET_ONNX_TYPES_H
