// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// TypeProto and ValueInfoProto ⇄ MLIR types and the attributes beside them.

#ifndef HTP_LIB_TARGET_ONNX_TYPES_H
#define HTP_LIB_TARGET_ONNX_TYPES_H

#include "ProtoAttr.h"

#include "mlir/IR/Types.h"

namespace htp {

/// The MLIR type; `none` where the message does not say what it is. Null, with
/// the reason in `error`, for a type that cannot be, such as one with negative
/// dimensions.
mlir::Type importType(const ::onnx::TypeProto &proto,
                      mlir::MLIRContext *context, std::string &error);

/// The plainest message for the type. Nothing is set for `none`.
void exportType(mlir::Type type, ::onnx::TypeProto &proto);

/// What a value's ValueInfoProto says beyond name and MLIR type: `dim_params`
/// ("0:batch,1:length", as onnx-mlir has it), or the whole `type` where that is
/// not enough, or `no_type`; `as_is` where the two contradict each other; and
/// the fields `doc_string` and `metadata_props`.
void importValueInfo(const ::onnx::ValueInfoProto &info, mlir::Type type,
                     const ProtoEncoder &encoder, mlir::NamedAttrList &rest,
                     bool skipMetadata = false);

/// The inverse. A recorded type that does not fit `type` any more (a pass
/// changed it) is left out.
mlir::LogicalResult exportValueInfo(llvm::StringRef name, mlir::Type type,
                                    mlir::DictionaryAttr rest,
                                    const ProtoDecoder &decoder,
                                    ::onnx::ValueInfoProto &info);

} // namespace htp

#endif // HTP_LIB_TARGET_ONNX_TYPES_H
