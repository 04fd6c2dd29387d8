// SPDX-License-Identifier: Apache-2.0
//
// What is gloo's alone: its waits can be ended, with ranks as threads.
#include "common/comm/gloo/gloo_communicator.h"

#include <gtest/gtest.h>

#include "tests/comm/contract_setting.h"

namespace tandem::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

CommunicatorOptions hasty(int) { return {.deadline = milliseconds(200)}; }

TEST(GlooCommunicatorTest, RankThatNeverComes_IsACommunicationErrorAtTheDeadline) {
  as_threads<Transport::kGloo>(3).run(
      [](ContractRank& on) {
        const auto values = on.memory<float>(Memory::kOther, 64);
        if (on.rank == 1) return;
        on.communicator->all_reduce(*on.stream, values.span(), ReduceOp::kSum);
        const Error error = error_of([&] { on.stream->synchronize(); });
        EXPECT_EQ(error.kind(), ErrorKind::kCommunication);
        EXPECT_TRUE(mentions(error, "in all_reduce #1")) << error.what();
        EXPECT_TRUE(mentions(error, "lost or late")) << error.what();
      },
      hasty);
}

TEST(GlooCommunicatorTest, LateRankAtABarrier_IsACommunicationErrorAtTheDeadline) {
  as_threads<Transport::kGloo>(2).run(
      [](ContractRank& on) {
        if (on.rank == 1) return;
        EXPECT_EQ(error_of([&] { on.communicator->barrier(); }).kind(), ErrorKind::kCommunication);
      },
      hasty);
}

TEST(GlooCommunicatorTest, Abort_EndsWaitingAndFutureCallsOfAllRanks) {
  const TimePoint start = Clock::now();
  as_threads<Transport::kGloo>(3).run([](ContractRank& on) {
    const auto values = on.memory<float>(Memory::kOther, 64);
    if (on.rank == 2) {
      on.communicator->abort();
    } else {
      on.communicator->all_reduce(*on.stream, values.span(), ReduceOp::kSum);
      EXPECT_EQ(error_of([&] { on.stream->synchronize(); }).kind(), ErrorKind::kCommunication);
    }
    EXPECT_EQ(error_of([&] { on.communicator->barrier(); }).kind(), ErrorKind::kCommunication);
  });
  EXPECT_LT(Clock::now() - start, seconds(30));  // and not at the deadline of a minute
}

}  // namespace
}  // namespace tandem::test
