// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What may be opened as an input: files and pipes, nothing else.

#include "HTP/Support/InputFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <sys/stat.h>
#include <thread>

using namespace htp;
using namespace llvm;

namespace {
/// A folder with a file `text` in it.
class InputFile : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(sys::fs::createUniqueDirectory("htp-input", folder));
    write(path("text"), "some bytes");
  }
  void TearDown() override { sys::fs::remove_directories(folder); }

  std::string path(StringRef name) { return (folder + "/" + name).str(); }
  static void write(const std::string &path, StringRef contents) {
    std::error_code error;
    raw_fd_ostream(path, error) << contents;
  }
  /// The contents, or the error.
  static std::string open(StringRef path) {
    auto buffer = openInput(path);
    return buffer ? (*buffer)->getBuffer().str()
                  : "error: " + toString(buffer.takeError());
  }

  SmallString<128> folder;
};
} // namespace

TEST_F(InputFile, Files) {
  EXPECT_EQ(open(path("text")), "some bytes");
  write(path("empty"), "");
  EXPECT_EQ(open(path("empty")), "");
  ASSERT_FALSE(sys::fs::create_link("text", path("link")));
  EXPECT_EQ(open(path("link")), "some bytes");
  EXPECT_EQ(open(path("missing")), "error: No such file or directory");
}

/// A parser of text may look one character past the end, if it asks for that.
TEST_F(InputFile, AZeroAfterTheEnd) {
  // A multiple of the size of a page: no zero follows in a mapping of it.
  write(path("pages"), std::string(1 << 16, 'x'));
  auto buffer = cantFail(openInput(path("pages"), /*terminated=*/true));
  EXPECT_EQ(buffer->getBufferSize(), size_t(1 << 16));
  EXPECT_EQ(*buffer->getBufferEnd(), '\0');
}

/// More than a pipe holds at a time, so that it comes in pieces.
TEST_F(InputFile, PipesAreReadToTheirEnd) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::string sent(3 << 20, 'a');
  sent.back() = 'z';
  std::thread writer([&] { write(path("pipe"), sent); });
  std::string received = open(path("pipe"));
  writer.join();
  EXPECT_TRUE(received == sent) << received.size() << " bytes";
}

TEST_F(InputFile, NothingElse) {
  EXPECT_EQ(open(folder), "error: is a directory, expected a file");
  EXPECT_EQ(open("/dev/zero"), "error: is a device, expected a file");
}
