// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds, checks and inlines the tensors of a ModelProto whose data is in other
// files.

#ifndef HTP_TARGET_ONNX_EXTERNALTENSORS_H
#define HTP_TARGET_ONNX_EXTERNALTENSORS_H

#include "HTP/Support/ExternalData.h"
#include "HTP/Target/ONNX/ModelWriter.h"

#include "onnx/onnx_pb.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <set>
#include <string>

namespace htp {

/// Calls `visit` for every tensor with external data, at any depth, in the
/// order of the message; stops at the first error.
llvm::Error forEachExternalTensor(
    const ::onnx::ModelProto &model,
    llvm::function_ref<llvm::Error(const ::onnx::TensorProto &)> visit);

/// Checks that all external data exists and has the size that the tensors need,
/// without reading it. Returns the data files; an error names the tensor.
llvm::Expected<std::set<std::string>>
checkExternalData(const ::onnx::ModelProto &model, ExternalData &data);

/// The data files that the model refers to.
std::set<std::string> externalLocations(const ::onnx::ModelProto &model);

/// Turns external data into raw data. `data` keeps the bytes alive until the
/// writer has written them.
llvm::Error inlineExternalData(::onnx::ModelProto &model, ExternalData &data,
                               ModelWriter &writer);

} // namespace htp

#endif // HTP_TARGET_ONNX_EXTERNALTENSORS_H
