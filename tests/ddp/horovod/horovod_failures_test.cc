// SPDX-License-Identifier: Apache-2.0
//
// Ranks that leave, fail or stay behind: those who wait for them learn of it, and all ends.
#include <gtest/gtest.h>

#include <latch>

#include "common/runtime/host/host_stream.h"
#include "tests/ddp/horovod/horovod_rank.h"
#include "tests/support/errors.h"

namespace tandem::test {
namespace {

TEST(HorovodFailures, GradientGivenTwice_IsALogicError) {
  on_ranks({.ranks = 1}, [&](HorovodRank& rank) {
    rank.reducer->begin_step();
    rank.reducer->gradient_ready(3);
    EXPECT_EQ(error_of([&] { rank.reducer->gradient_ready(3); }).kind(), ErrorKind::kLogic);
  });
}

TEST(HorovodFailures, RankThatLeaves_FailsThoseWhoWaitForItsGradients) {
  on_ranks({.ranks = 3}, [&](HorovodRank& rank) {
    rank.run_step(0, kBackward);
    if (rank.rank == 1) return rank.reducer.reset();
    const Error error = error_of([&] { rank.run_step(1, kBackward); });
    EXPECT_EQ(error.kind(), ErrorKind::kCommunication);
    EXPECT_TRUE(mentions(error, "another rank has ended")) << error.what();
  });
}

TEST(HorovodFailures, RankThatLeavesAfterTheLastStep_DisturbsNobody) {
  std::latch left(1);
  on_ranks({}, [&](HorovodRank& rank) {
    rank.run_step(0, kBackward);
    if (rank.rank == 1) {
      rank.reducer.reset();
      left.count_down();
    } else {
      left.wait();
      EXPECT_NO_THROW(rank.reducer->synchronize());
    }
  });
}

TEST(HorovodFailures, RankThatNeverMakesAGradient_IsNoticedAtTheDeadline) {
  Job job;
  job.options.deadline = std::chrono::milliseconds(20);
  std::latch noticed(1);
  on_ranks(job, [&](HorovodRank& rank) {
    rank.reducer->begin_step();
    if (rank.rank == 1) noticed.wait();
    const Error error = error_of([&] { rank.reducer->finish(); });
    EXPECT_EQ(error.kind(), ErrorKind::kCommunication);
    if (rank.rank == 1) return;
    EXPECT_TRUE(mentions(error, "rank 0 waited 20 ms")) << error.what();
    EXPECT_TRUE(mentions(error, kModel.layout().segments().front().name)) << error.what();
    noticed.count_down();
  });
}

TEST(HorovodFailures, AbortedControl_FailsAllRanks) {
  on_ranks({}, [&](HorovodRank& rank) {
    rank.run_step(0, kBackward);
    rank.data->barrier();
    if (rank.rank == 1) rank.control->abort();
    EXPECT_EQ(error_of([&] { rank.run_step(1, kBackward); }).kind(), ErrorKind::kCommunication);
    EXPECT_EQ(error_of([&] { rank.reducer->synchronize(); }).kind(), ErrorKind::kCommunication);
  });
}

TEST(HorovodFailures, WorkThatFails_SurfacesOnItsRank_AndEndsTheOthers) {
  on_ranks({}, [&](HorovodRank& rank) {
    rank.run_step(0, kBackward);
    if (rank.rank == 1) {
      host::host_stream(rank.replica.stream()).enqueue({"backward", {}, [] {
                                                          fail(ErrorKind::kFailure, "planted");
                                                        }});
    }
    const Error error = error_of([&] { rank.run_step(1, kBackward); });
    if (rank.rank == 1) {
      EXPECT_STREQ(error.what(), "planted");
    } else {
      EXPECT_EQ(error.kind(), ErrorKind::kCommunication);
    }
  });
}

// The reducer goes while its gradients wait for a rank that makes none.
TEST(HorovodFailures, DestroyedInTheMiddleOfAStep_Ends) {
  on_ranks({}, [&](HorovodRank& rank) {
    rank.reducer->begin_step();
    if (rank.rank == 0) rank.reducer->gradient_ready(5);
    rank.reducer.reset();
  });
}

}  // namespace
}  // namespace tandem::test
