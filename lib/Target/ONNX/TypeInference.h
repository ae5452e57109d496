// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ONNX's own shape inference, on a copy of a model and within bounds.

#ifndef HTP_LIB_TARGET_ONNX_TYPEINFERENCE_H
#define HTP_LIB_TARGET_ONNX_TYPEINFERENCE_H

#include "mlir/IR/Location.h"
#include "onnx/onnx_pb.h"
#include "llvm/ADT/ArrayRef.h"

#include <google/protobuf/arena.h>

namespace htp {

/// The model's graph with the types that ONNX infers, in `arena`. `order` is
/// that of its nodes where the file's will not do (sortNodes). Null, with a
/// remark at `loc`, where inference fails; a remark, too, where a part of it
/// would have no end and is left out.
const ::onnx::GraphProto *inferTypes(const ::onnx::ModelProto &model,
                                     llvm::ArrayRef<int> order,
                                     google::protobuf::Arena &arena,
                                     mlir::Location loc);

} // namespace htp

#endif // HTP_LIB_TARGET_ONNX_TYPEINFERENCE_H
