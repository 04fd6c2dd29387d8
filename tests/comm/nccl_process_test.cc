// SPDX-License-Identifier: Apache-2.0
//
// Where a thread does not come out of NCCL, whose calls block and cannot be interrupted, the
// process ends with the reason: on stand-ins for NCCL and for CUDA's runtime.
#include "tests/comm/fake_rank.h"

namespace tandem::test {
namespace {

using ::testing::ExitedWithCode;

// The process that is to end is started anew for each case, since threads do not survive a fork.
class NcclProcessTest : public NcclCommunicatorTest {
 protected:
  void SetUp() override {
    NcclCommunicatorTest::SetUp();
    GTEST_FLAG_SET(death_test_style, "threadsafe");
  }
};

TEST_F(NcclProcessTest, StartThatFailsOnOneRank_EndsAllLongBeforeTheDeadline_WithItsError) {
  const auto start = [this] {
    fake_nccl::fail_next("ncclCommInitRank", ncclInvalidUsage, 1);
    static_cast<void>(errors_of_start(3, {.deadline = std::chrono::hours(1)}));
  };
  EXPECT_EXIT(start(), ExitedWithCode(1), "ncclCommInitRank: .*ncclInvalidUsage.*a GPU of its own");
}

TEST_F(NcclProcessTest, StartThatIsStuck_EndsAtTheDeadline_InTheWordsOfAllTransports) {
  const auto start = [this] {
    fake_nccl::stick_at_start(1);
    static_cast<void>(errors_of_start(2, kHasty));
  };
  EXPECT_EXIT(start(), ExitedWithCode(1),
              "rank [01] waited .* in ncclCommInitRank .*for ranks that are lost or late");
}

TEST_F(NcclProcessTest, PeerThatDoesNotComeToAFirstCall_EndsAtTheDeadline_NamingTheCollective) {
  const auto wait = [this] {
    on_ranks(2, kHasty, [](FakeRank& on) {
      fake_nccl::connect_at_first_call();
      if (on.rank() == 0) on.all_reduce();
    });
  };
  EXPECT_EXIT(wait(), ExitedWithCode(1),
              "rank 0 waited .* in all_reduce .#1, 16 B. for ranks that are lost or late");
}

TEST_F(NcclProcessTest, RankThatGaveUp_EndsThoseWithinNcclLongBeforeTheDeadline_WithItsError) {
  const auto wait = [this] {
    on_ranks(2, {.deadline = std::chrono::hours(1)}, [](FakeRank& on) {
      fake_nccl::connect_at_first_call();
      if (on.rank() == 1) fake_nccl::fail_next("ncclAllReduce", ncclInternalError, 1);
      on.all_reduce();
    });
  };
  EXPECT_EXIT(wait(), ExitedWithCode(1), "in all_reduce #1 .*ncclAllReduce.*ncclInternalError");
}

TEST_F(NcclProcessTest, EndIsWatchedToo) {
  const auto end = [this] {
    on_ranks(2, kHasty, [](FakeRank& on) {
      if (on.rank() == 0) fake_nccl::stick_at_end();
      on.communicator.reset();
    });
  };
  EXPECT_EXIT(end(), ExitedWithCode(1), "rank [01] waited .* in ncclCommFinalize");
}

}  // namespace
}  // namespace tandem::test
