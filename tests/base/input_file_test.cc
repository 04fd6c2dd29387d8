// SPDX-License-Identifier: Apache-2.0
#include "common/base/input_file.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/errors.h"
#include "tests/support/scratch_folder.h"

namespace tandem {
namespace {

namespace fs = std::filesystem;
using test::error_of;
using test::mentions;

class InputFileTest : public testing::Test {
 protected:
  [[nodiscard]] InputFile file(const std::string& name, Bytes most = kib(64)) const {
    return {.path = folder_ / name, .begins = "reading ", .most = most};
  }

  // The refusal has one line, the kind of `file.kind` and the beginning of `file.begins`.
  static void expect_refused(const InputFile& file, std::string_view why) {
    for (const bool whole : {false, true}) {
      const Error error = error_of([&] {
        if (whole) return static_cast<void>(read_whole(file));
        check_input(file);
      });
      EXPECT_EQ(error.kind(), file.kind);
      EXPECT_TRUE(mentions(error, "reading " + file.path.string() + ": ")) << error.what();
      EXPECT_TRUE(mentions(error, why)) << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    }
  }

  const test::ScratchFolder folder_;
};

TEST_F(InputFileTest, AFile_IsReadWhole_WhateverItHolds) {
  const std::string text = std::string("\0\n\xff", 3) + std::string(3 << 20, 'x');
  std::ofstream(folder_ / "large", std::ios::binary) << text;
  std::ofstream(folder_ / "empty").close();
  fs::create_symlink("large", folder_ / "link");
  EXPECT_EQ(read_whole(file("large", mib(4))), text);
  EXPECT_EQ(read_whole(file("link", mib(4))), text);
  EXPECT_EQ(read_whole(file("empty")), "");
}

TEST_F(InputFileTest, TheLargest_IsRead_AndAByteMoreRefused) {
  std::ofstream(folder_ / "file") << "12345";
  EXPECT_EQ(read_whole(file("file", Bytes{5})), "12345");
  expect_refused(file("file", Bytes{4}), "it has 5 B, and at most 4 B are read");
}

// The system gives no size of a file of /proc before the file is read.
TEST_F(InputFileTest, AFileOfProc_IsReadToItsEnd_AndNoFurther) {
  const InputFile status{.path = "/proc/self/status", .begins = "", .most = kib(64)};
  EXPECT_NE(read_whole(status).find("VmRSS"), std::string::npos);
  EXPECT_THROW(
      static_cast<void>(read_whole({.path = "/proc/self/status", .begins = "", .most = Bytes{10}})),
      Error);
}

TEST_F(InputFileTest, WhatIsNoFile_IsRefusedAtOnce) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), S_IRUSR | S_IWUSR), 0);
  fs::create_directory(folder_ / "folder");
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string path = (folder_ / "s").string();
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(static_cast<char*>(address.sun_path), path.size());
  const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  expect_refused(file("pipe"), "it is a pipe; give the path of a file");
  expect_refused(file("folder"), "it is a folder");
  expect_refused(file("s"), "it is a socket");
  expect_refused({.path = "/dev/zero", .begins = "reading ", .most = kib(1)}, "it is a device");
  ::close(socket);
}

TEST_F(InputFileTest, WhatIsNotThere_IsSaid_InTheKindThatWasAskedFor) {
  InputFile absent = file("absent");
  expect_refused(absent, "there is no such file; check the path");
  absent.kind = ErrorKind::kFailure;
  expect_refused(absent, "there is no such file");
  fs::create_symlink("nowhere", folder_ / "dangling");
  expect_refused(file("dangling"), "there is no such file");
  expect_refused(file(std::string(300, 'n')), "check the path");
}

// A file that can be opened, and whose first byte no process has.
TEST_F(InputFileTest, WhatCannotBeRead_IsSaid) {
  const InputFile memory{.path = "/proc/self/mem", .begins = "reading ", .most = kib(1)};
  EXPECT_NO_THROW(check_input(memory));
  EXPECT_TRUE(mentions(error_of([&] { static_cast<void>(read_whole(memory)); }),
                       "reading /proc/self/mem: it cannot be read ("));
}

}  // namespace
}  // namespace tandem
