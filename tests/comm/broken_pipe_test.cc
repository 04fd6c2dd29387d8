// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <thread>

#include "common/comm/gloo/gloo_communicator.h"

namespace tandem::test {
namespace {

// The end of a pipe that nobody reads.
class DeadPipe {
 public:
  DeadPipe() {
    EXPECT_EQ(pipe(ends_.data()), 0);
    close(ends_[0]);
  }
  ~DeadPipe() { close(ends_[1]); }
  DeadPipe(const DeadPipe&) = delete;
  DeadPipe& operator=(const DeadPipe&) = delete;

  // errno of a write.
  [[nodiscard]] int write_error() const { return write(ends_[1], "x", 1) == 1 ? 0 : errno; }

 private:
  std::array<int, 2> ends_{};
};

TEST(BrokenPipeTest, Write_IsAnError_AndNothingIsLeftForLater) {
  const DeadPipe dead;
  for (int round = 0; round < 2; ++round) {
    const BrokenPipeIsAnError guard;
    EXPECT_EQ(dead.write_error(), EPIPE);
  }
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGPIPE), 0);
}

TEST(BrokenPipeTest, ThreadStartedMeanwhile_KeepsItSo) {
  const DeadPipe dead;
  int error = 0;
  std::thread writer;
  {
    const BrokenPipeIsAnError guard;
    writer = std::thread([&] { error = dead.write_error(); });
  }
  writer.join();
  EXPECT_EQ(error, EPIPE);
}

TEST(BrokenPipeTest, KeptByAThread_EveryWriteOfItIsAnError_AndOtherThreadsStayAsTheyAre) {
  const DeadPipe dead;
  std::thread([&dead] {
    for (int round = 0; round < 2; ++round) {
      keep_broken_pipe_an_error();
      EXPECT_EQ(dead.write_error(), EPIPE);
    }
  }).join();
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGPIPE), 0);
}

TEST(BrokenPipeDeathTest, WithoutIt_TheProcessEnds) {
  const DeadPipe dead;
  EXPECT_EXIT(static_cast<void>(dead.write_error()), testing::KilledBySignal(SIGPIPE), "");
}

}  // namespace
}  // namespace tandem::test
