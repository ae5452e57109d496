// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes a ModelProto without copying its large tensors: their bytes are given
// as spans of memory (usually of a mapped file) and are spliced in while the
// file is written.

#ifndef HTP_TARGET_ONNX_MODELWRITER_H
#define HTP_TARGET_ONNX_MODELWRITER_H

#include "onnx/onnx_pb.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace htp {

class ModelWriter {
public:
  /// Makes `bytes` the `raw_data` of the tensor. Small data is copied into the
  /// message; the caller keeps large data alive until the model is written.
  /// The tensor may be moved or copied afterwards.
  void setRawData(::onnx::TensorProto &tensor, llvm::ArrayRef<char> bytes);

  /// Writes the model to an open file, pipe or socket.
  llvm::Error write(const ::onnx::ModelProto &model, int fd);

private:
  std::vector<llvm::ArrayRef<char>> spans;
};

} // namespace htp

#endif // HTP_TARGET_ONNX_MODELWRITER_H
