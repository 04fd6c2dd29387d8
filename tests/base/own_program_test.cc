// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "common/base/this_process.h"

namespace tandem::test {
namespace {

namespace fs = std::filesystem;

// A folder of its own.
class OwnProgramTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "own-program-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  [[nodiscard]] const fs::path& folder() const { return folder_; }

  [[nodiscard]] fs::path file(const fs::path& path) const {
    fs::create_directories((folder_ / path).parent_path());
    std::ofstream(folder_ / path) << "a file\n";
    return folder_ / path;
  }

 private:
  fs::path folder_;
};

std::string output_of(const std::string& command) {
  std::string text;
  FILE* const output = ::popen(command.c_str(), "r");
  for (int c = std::fgetc(output); c != EOF; c = std::fgetc(output)) {
    text += static_cast<char>(c);
  }
  EXPECT_EQ(::pclose(output), 0) << command << ":\n" << text;
  return text;
}

// What the others start anew, as another process.
TEST(OwnProgramPrinted, ByItself) { fmt::print("program_file: {}\n", program_file().string()); }

TEST_F(OwnProgramTest, IsTheFileThatWasStarted) {
  EXPECT_EQ(program_file().filename(), "common_test");
  EXPECT_EQ(program_starter().filename(), "common_test");
  EXPECT_EQ(program_starter().parent_path().filename(), "bin");
}

TEST_F(OwnProgramTest, IsTheSame_WhereTheLoaderIsNamed) {
  const fs::path loader = "/lib64/ld-linux-x86-64.so.2";
  if (program_file() != program_starter()) {
    GTEST_SKIP() << "an archive, where the case above was started so";
  }
  if (!fs::exists(loader)) GTEST_SKIP() << "no " << loader;
  const fs::path copy = folder() / "a program (moved)";
  fs::copy_file(program_file(), copy);
  const std::string output = output_of(
      fmt::format("{} '{}' --gtest_filter=OwnProgramPrinted.*", loader.string(), copy.string()));
  EXPECT_NE(output.find("program_file: " + copy.string() + "\n"), std::string::npos) << output;
}

TEST_F(OwnProgramTest, IsStartedByItsFile_OutsideOfAnArchive) {
  EXPECT_EQ(starter_of("/build/bin/step_bench"), "/build/bin/step_bench");
  const fs::path alone = file("elf/step_bench");
  EXPECT_EQ(starter_of(alone), alone);
}

TEST_F(OwnProgramTest, IsStartedByItsLauncher_InAnArchive) {
  const fs::path program = file("programs/elf/step_bench");
  const fs::path launcher = file("programs/bin/step_bench");
  EXPECT_EQ(starter_of(program), launcher);
}

TEST_F(OwnProgramTest, IsKnownInOtherProcesses) {
  const pid_t same = ::fork();
  if (same == 0) {
    ::pause();
    ::_exit(0);
  }
  EXPECT_TRUE(runs_this_program(same));
  EXPECT_TRUE(runs_this_program(::getpid()));
  EXPECT_FALSE(runs_this_program(0)) << "there is no such process";
  ::kill(same, SIGKILL);
  ::waitpid(same, nullptr, 0);
  EXPECT_FALSE(runs_this_program(same)) << "a process that is gone";

  std::array<int, 2> until_exec{};
  ASSERT_EQ(::pipe2(until_exec.data(), O_CLOEXEC), 0);
  const pid_t other = ::fork();
  if (other == 0) {
    ::execlp("sleep", "sleep", "60", nullptr);
    ::_exit(127);
  }
  ::close(until_exec[1]);
  char none = 0;
  EXPECT_EQ(::read(until_exec[0], &none, 1), 0) << "another program has no such pipe";
  ::close(until_exec[0]);
  EXPECT_FALSE(runs_this_program(other));
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
}

}  // namespace
}  // namespace tandem::test
