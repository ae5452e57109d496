// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Access to external data through TensorBytesInterface.

#include "HTP/Dialect/ONNX/IR/ExternalBytes.h"
#include "HTP/Dialect/HTP/IR/Nodes.h"
#include "HTP/Dialect/ONNX/IR/ONNX.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mlir;

namespace {

/// A pass that does not know ONNX asks for the bytes of an attribute.
TEST(ExternalBytesTest, PassesGetTheBytes) {
  SmallString<128> folder;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("htp-bytes", folder));
  {
    std::error_code error;
    llvm::raw_fd_ostream os((folder + "/w.bin").str(), error);
    os << "0123456789";
  }
  MLIRContext context;
  context.loadDialect<htp::onnx::ONNXDialect>();
  Builder builder(&context);
  auto external = [&](StringRef location) -> Attribute {
    auto entry = [&](StringRef key, StringRef value) {
      return builder.getStrArrayAttr({key, value});
    };
    return htp::onnx::ExternalAttr::get(
        &context, RankedTensorType::get({2}, builder.getI16Type()),
        builder.getArrayAttr(
            {entry("location", location), entry("offset", "3")}));
  };
  SmallVector<char> storage;
  // The model's folder is not known yet.
  EXPECT_FALSE(htp::getTensorBytes(external("w.bin"), storage));
  htp::onnx::setExternalData(context,
                             std::make_shared<htp::ExternalData>(folder));
  auto bytes = htp::getTensorBytes(external("w.bin"), storage);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(StringRef(bytes->data(), bytes->size()), "3456");
  EXPECT_FALSE(htp::getTensorBytes(external("missing.bin"), storage));
  EXPECT_FALSE(htp::getTensorBytes(external("../w.bin"), storage));
  llvm::sys::fs::remove_directories(folder);
}

} // namespace
