// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HTP/Target/ONNX/ModelWriter.h"

using namespace llvm;
using namespace htp;

void ModelWriter::setRawData(::onnx::TensorProto &tensor,
                             ArrayRef<char> bytes) {
  tensor.set_raw_data(bytes.data(), bytes.size());
}

Error ModelWriter::write(const ::onnx::ModelProto &model, int fd) {
  if (!model.SerializeToFileDescriptor(fd))
    return createStringError("cannot write the model");
  return Error::success();
}
