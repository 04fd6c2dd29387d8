// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <csignal>

#include "tests/support/errors.h"
#include "tools/tandem/launch/launch_command.h"
#include "tools/tandem/process/child_process.h"

namespace tandem::test {
namespace {

int run_shell(const std::string& script) {
  const cli::Interrupts interrupts;
  return cli::run_relayed({"sh", "-c", script}, cli::launch_environment(), interrupts);
}

TEST(RelayTest, Output_IsPassedOn_AndTheStatusIsTheCommands) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_shell("echo one; echo two; exit 3"), 3);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "one\ntwo\n");
}

TEST(RelayTest, ACommandThatASignalEnds_IsAFailure) { EXPECT_EQ(run_shell("kill -9 $$"), 1); }

TEST(RelayTest, AnAbsentCommand_IsAFailureThatNamesIt) {
  const cli::Interrupts interrupts;
  const Error error = error_of([&] {
    static_cast<void>(cli::run_relayed({"no-such-command"}, cli::launch_environment(), interrupts));
  });
  EXPECT_TRUE(mentions(error, "starting no-such-command"));
}

// As `tandem lessons | head -1`: a command that would write for ever is ended, quietly.
TEST(RelayTest, AReaderThatGoesAway_EndsTheCommand) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const int before = ::dup(STDOUT_FILENO);
  ::dup2(ends[1], STDOUT_FILENO);
  ::close(ends[0]);
  const int status = run_shell("while echo more; do :; done");
  ::dup2(before, STDOUT_FILENO);
  ::close(ends[1]);
  ::close(before);
  EXPECT_EQ(status, 0);
}

TEST(RelayTest, AnInterrupt_EndsTheCommand_AndIsTheStatus) {
  const cli::Interrupts interrupts;
  ::raise(SIGINT);
  EXPECT_EQ(cli::run_relayed({"sleep", "3600"}, cli::launch_environment(), interrupts), 130);
}

}  // namespace
}  // namespace tandem::test
