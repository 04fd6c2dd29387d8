// SPDX-License-Identifier: Apache-2.0
#include "common/results/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <string>

#include "common/base/error.h"
#include "tests/support/scratch_folder.h"

namespace tandem::results {
namespace {

namespace fs = std::filesystem;
using test::ScratchFolder;

std::string message_of(const std::function<void()>& action) {
  const auto error = capture_error([&] { action(); });
  return error ? error->what() : "";
}

std::string message_of_writing(const fs::path& path) {
  return message_of([&] { replace_file(path, "text"); });
}

TEST(ReplaceFile, OfADevice_WritesIntoIt) {
  replace_file("/dev/null", "text");
  EXPECT_EQ(fs::status("/dev/null").type(), fs::file_type::character);
}

TEST(ReplaceFile, OfAFullDevice_SaysSoAndLeavesIt) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  EXPECT_EQ(message_of_writing("/dev/full"),
            "writing /dev/full: No space left on device; free some space");
  EXPECT_EQ(fs::status("/dev/full").type(), fs::file_type::character);
}

TEST(ReplaceFile, OfAPipe_WritesIntoIt) {
  const ScratchFolder folder;
  const fs::path pipe = folder / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  auto read = std::async(std::launch::async, [&] {
    std::ifstream from(pipe);
    return std::string(std::istreambuf_iterator<char>(from), {});
  });
  replace_file(pipe, "text");
  EXPECT_EQ(read.get(), "text");
  EXPECT_EQ(fs::status(pipe).type(), fs::file_type::fifo);
}

TEST(ReplaceFile, OfALink_ReplacesWhatItPointsAt) {
  const ScratchFolder folder;
  fs::create_directory(folder / "below");
  fs::create_symlink("below/second", folder / "first");
  fs::create_symlink("file", folder / "below/second");
  for (const char* text : {"made", "replaced"}) {
    replace_file(folder / "first", text);
    EXPECT_EQ(read_file(folder / "below/file"), text);
    EXPECT_TRUE(fs::is_symlink(folder / "first"));
    EXPECT_TRUE(fs::is_symlink(folder / "below/second"));
  }
}

TEST(ReplaceFile, OfALinkToItself_SaysSo) {
  const ScratchFolder folder;
  fs::create_symlink("loop", folder / "loop");
  EXPECT_NE(message_of_writing(folder / "loop").find("Too many levels"), std::string::npos);
}

TEST(ReplaceFile, OfItsOwnOutput_GoesOnInIt) {
  const ScratchFolder folder;
  const int before = ::dup(STDOUT_FILENO);
  ASSERT_NE(std::freopen((folder / "output").c_str(), "w", stdout), nullptr);
  std::fputs("one ", stdout);
  replace_file(folder / "output", "two ");
  std::fputs("three", stdout);
  std::fflush(stdout);
  ::dup2(before, STDOUT_FILENO);
  ::close(before);
  EXPECT_EQ(read_file(folder / "output"), "one two three");
}

TEST(ReplaceFile, ThatFails_NamesTheFileAndWhatToDo) {
  const ScratchFolder folder;
  EXPECT_EQ(message_of_writing(folder / "no/file"),
            "writing " + (folder / "no/file").string() +
                ": No such file or directory; make its folder first");
  fs::create_directory(folder / "folder");
  EXPECT_NE(message_of_writing(folder / "folder").find("choose another place"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder / "folder.part"));
}

TEST(CheckFolderTakesFiles, LeavesNothing_AndNamesTheFolderAlone) {
  const ScratchFolder folder;
  check_folder_takes_files(folder.path());
  EXPECT_TRUE(fs::is_empty(folder.path()));
  const std::string message = message_of([] { check_folder_takes_files("/proc/self"); });
  EXPECT_EQ(message.find("writing /proc/self: "), 0U);
  EXPECT_EQ(message.find("free some space"), std::string::npos);
}

TEST(CheckIsNoInput, KnowsAFileByAllItsNames) {
  const ScratchFolder folder;
  replace_file(folder / "input", "text");
  fs::create_symlink("input", folder / "link");
  fs::create_hard_link(folder / "input", folder / "hard");
  const fs::path roundabout = folder.path() / "." / "input";
  for (const fs::path& name : {folder / "input", folder / "link", folder / "hard", roundabout}) {
    const auto check = [&] { check_is_no_input(name, "--json", {"/absent", folder / "input"}); };
    EXPECT_EQ(message_of(check).find("--json: " + name.string()), 0U);
  }
  replace_file(folder / "other", "text");
  check_is_no_input(folder / "other", "--json", {folder / "input"});
  check_is_no_input(folder / "absent", "--json", {folder / "absent"});
}

}  // namespace
}  // namespace tandem::results
