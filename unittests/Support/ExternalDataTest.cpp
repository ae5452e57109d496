// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which external data files may be read, and range checks.

#include "HTP/Support/ExternalData.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace llvm;
using namespace htp;

namespace {

/// folder/ has w.bin (16 bytes), sub/, inner -> w.bin, outer -> ../secret; a
/// secret is next to the folder.
class ExternalDataTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("htp-external", root));
    ASSERT_FALSE(sys::fs::create_directories(root + "/folder/sub"));
    write("/folder/w.bin", "0123456789abcdef");
    write("/secret", "secret");
    ASSERT_FALSE(sys::fs::create_link("w.bin", root + "/folder/inner"));
    ASSERT_FALSE(sys::fs::create_link("../secret", root + "/folder/outer"));
    ASSERT_FALSE(sys::fs::create_link("..", root + "/folder/up"));
  }
  void TearDown() override { sys::fs::remove_directories(root); }

  void write(StringRef name, StringRef contents) {
    std::error_code error;
    raw_fd_ostream os((root + name).str(), error);
    os << contents;
  }

  std::string bytes(StringRef location, StringRef offset = "",
                    StringRef length = "",
                    std::optional<uint64_t> size = std::nullopt) {
    ExternalData data((root + "/folder").str());
    auto range = ExternalRange::parse(location, offset, length);
    if (!range)
      return "error: " + toString(range.takeError());
    auto result = data.bytes(*range, size);
    // `check` and `bytes` must agree on whether a range is valid.
    EXPECT_EQ(bool(result), !errorToBool(data.check(*range, size)));
    if (!result)
      return "error: " + toString(result.takeError());
    return std::string(result->data(), result->size());
  }

  SmallString<128> root;
};

/// snapshots/model.onnx -> ../blobs/a, snapshots/data -> ../blobs/b: the cache
/// of a model hub. A link to anywhere else is refused as ever.
TEST_F(ExternalDataTest, AModelThatIsALinkBringsItsData) {
  ASSERT_FALSE(sys::fs::create_directories(root + "/blobs"));
  ASSERT_FALSE(sys::fs::create_directories(root + "/snapshots"));
  write("/blobs/a", "model");
  write("/blobs/b", "data");
  std::string model = (root + "/snapshots/model.onnx").str();
  ASSERT_FALSE(sys::fs::create_link("../blobs/a", model));
  ASSERT_FALSE(sys::fs::create_link("../blobs/b", root + "/snapshots/data"));
  ASSERT_FALSE(sys::fs::create_link("../secret", root + "/snapshots/outer"));
  ExternalData data((root + "/snapshots").str(), model);
  auto resolves = [](ExternalData &data, StringRef location) {
    return !errorToBool(data.resolve(location).takeError());
  };
  EXPECT_TRUE(resolves(data, "data"));
  EXPECT_FALSE(resolves(data, "outer"));
  ExternalData alone((root + "/snapshots").str());
  EXPECT_FALSE(resolves(alone, "data"));
}

TEST_F(ExternalDataTest, Ranges) {
  EXPECT_EQ(bytes("w.bin"), "0123456789abcdef");
  EXPECT_EQ(bytes("w.bin", "4", "3"), "456");
  EXPECT_EQ(bytes("w.bin", "12", "", 4), "cdef");
  EXPECT_EQ(bytes("w.bin", "16", "0"), "");
  EXPECT_EQ(bytes("inner", "0", "2"), "01");
  EXPECT_EQ(bytes("sub/../w.bin", "0", "2"), "01");
}

TEST_F(ExternalDataTest, TooShort) {
  EXPECT_EQ(bytes("w.bin", "8", "9"),
            "error: external data 'w.bin' is too short: it has 16 bytes, the "
            "tensor needs 9 at offset 8");
  EXPECT_EQ(bytes("w.bin", "17", "0").find("error:"), 0u);
  // The sum of both overflows.
  EXPECT_EQ(bytes("w.bin", "18446744073709551615", "2").find("error:"), 0u);
  EXPECT_EQ(bytes("w.bin", "0", "8", 16),
            "error: external data 'w.bin' has length 8, the tensor's type "
            "needs 16 bytes");
}

TEST_F(ExternalDataTest, MalformedNumbers) {
  for (StringRef offset : {"-1", "1e3", "0x10", "99999999999999999999", "4 "})
    EXPECT_EQ(bytes("w.bin", offset),
              "error: external data 'w.bin' has offset '" + offset.str() +
                  "', expected a number of bytes");
}

TEST_F(ExternalDataTest, StaysInTheFolder) {
  EXPECT_EQ(bytes("../secret"),
            "error: external data '../secret' leaves the model's folder");
  EXPECT_EQ(bytes("sub/../../secret").find("error:"), 0u);
  EXPECT_NE(bytes((root + "/folder/w.bin").str()).find("is an absolute path"),
            std::string::npos);
  EXPECT_NE(bytes("outer").find("through a link to"), std::string::npos);
  EXPECT_NE(bytes("up/secret").find("through a link to"), std::string::npos);
  EXPECT_NE(bytes("sub").find("is not a regular file"), std::string::npos);
  EXPECT_NE(bytes("missing").find("cannot be opened"), std::string::npos);
  EXPECT_EQ(bytes(""), "error: external data has no location");
}

} // namespace
