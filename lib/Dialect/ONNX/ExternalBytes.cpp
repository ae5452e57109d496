// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements TensorBytesInterface for `#onnx.external`.

#include "HTP/Dialect/ONNX/IR/ExternalBytes.h"

#include "HTP/Dialect/ONNX/IR/ONNX.h"
#include "HTP/Support/TensorBytes.h"

using namespace mlir;
using namespace htp;
using namespace htp::onnx;

namespace {

class ExternalBytes : public TensorBytesInterface {
public:
  using TensorBytesInterface::TensorBytesInterface;

  std::optional<ArrayRef<char>> getBytes(Attribute tensor) const override {
    auto external = dyn_cast<ExternalAttr>(tensor);
    if (!external || !files)
      return std::nullopt;
    auto range = ExternalRange::parse(external.lookup("location"),
                                      external.lookup("offset"),
                                      external.lookup("length"));
    if (!range) {
      llvm::consumeError(range.takeError());
      return std::nullopt;
    }
    auto bytes = files->bytes(*range, getRawSize(external.getType()));
    if (bytes)
      return *bytes;
    llvm::consumeError(bytes.takeError());
    return std::nullopt;
  }

  std::shared_ptr<ExternalData> files;
};

} // namespace

void onnx::addExternalBytesInterface(ONNXDialect &dialect) {
  dialect.addInterfaces<ExternalBytes>();
}

void onnx::setExternalData(MLIRContext &context,
                           std::shared_ptr<ExternalData> files) {
  if (auto *dialect = context.getLoadedDialect<ONNXDialect>())
    static_cast<ExternalBytes *>(
        dialect->getRegisteredInterface<TensorBytesInterface>())
        ->files = std::move(files);
}
