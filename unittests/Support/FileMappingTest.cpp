// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Mappings of files, and finding them by address.

#include "HTP/Support/FileMapping.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <unistd.h>

using namespace htp;

namespace {

/// A file of a megabyte, removed at the end.
struct LargeFile {
  llvm::SmallString<64> path;

  LargeFile() {
    int fd;
    if (llvm::sys::fs::createTemporaryFile("mapped", "bin", fd, path))
      return;
    llvm::raw_fd_ostream os(fd, /*shouldClose=*/true);
    os << std::string(1 << 20, 'x');
  }
  ~LargeFile() { llvm::sys::fs::remove(path); }
};

TEST(FileMapping, HoldsTheBytes) {
  LargeFile file;
  auto mapping = llvm::cantFail(FileMapping::open(file.path));
  EXPECT_EQ(mapping->bytes().size(), size_t(1 << 20));
  EXPECT_EQ(mapping->bytes().back(), 'x');
}

TEST(FileMappingDeathTest, AFileThatShrinksEndsTheProcessWithAMessage) {
  LargeFile file;
  auto readShrunken = [&] {
    endWhereFilesShrink();
    auto mapping = llvm::cantFail(FileMapping::open(file.path));
    if (truncate(file.path.c_str(), 0) == 0)
      llvm::errs() << mapping->bytes().back();
    _exit(EXIT_SUCCESS);
  };
  EXPECT_EXIT(readShrunken(), testing::ExitedWithCode(EXIT_FAILURE),
              "became shorter while it was read; nothing was written");
}

} // namespace
