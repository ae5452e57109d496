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

/// Whoever holds bytes of a mapping can find out which bytes of which file they
/// are, to copy them from there.
TEST(FileMapping, FindsTheFileBehindBytes) {
  LargeFile file, other;
  auto mapping = llvm::cantFail(FileMapping::open(file.path));
  auto second = llvm::cantFail(FileMapping::open(other.path));
  llvm::StringRef bytes = mapping->bytes();
  auto whole = FileMapping::find(bytes),
       part = FileMapping::find(bytes.substr(1000, 10));
  ASSERT_TRUE(whole && part);
  EXPECT_EQ(whole->offset, 0u);
  EXPECT_EQ(part->offset, 1000u);
  EXPECT_EQ(part->fd, whole->fd);
  EXPECT_NE(FileMapping::find(second->bytes())->fd, whole->fd);
  EXPECT_TRUE(FileMapping::find(bytes.take_back(1)));
  // Bytes that only begin in the mapping, or are elsewhere.
  EXPECT_FALSE(FileMapping::find(llvm::StringRef(bytes.end() - 1, 1 << 20)));
  std::string copy = bytes.take_front(10).str();
  EXPECT_FALSE(FileMapping::find(copy));
  // What is no longer mapped is not found.
  mapping.reset();
  EXPECT_FALSE(FileMapping::find(bytes.take_front(10)));
}

TEST(FileMapping, WhatCannotBeMapped) {
  auto errorOf = [](llvm::StringRef path) {
    auto mapping = FileMapping::open(path);
    return mapping ? "" : llvm::toString(mapping.takeError());
  };
  EXPECT_EQ(errorOf("/nowhere/at/all"), "No such file or directory");
  EXPECT_EQ(errorOf("/"), "not a regular file");
  EXPECT_EQ(errorOf("/dev/null"), "not a regular file");
}

TEST(FileMapping, AnEmptyFileHasNoBytes) {
  LargeFile file;
  ASSERT_EQ(truncate(file.path.c_str(), 0), 0);
  auto mapping = llvm::cantFail(FileMapping::open(file.path));
  EXPECT_TRUE(mapping->bytes().empty());
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
