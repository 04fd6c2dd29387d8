// SPDX-License-Identifier: Apache-2.0
#include "common/comm/thread_bootstrap.h"

#include <gtest/gtest.h>

#include <thread>

#include "common/comm/bootstrap.h"
#include "tests/support/errors.h"

namespace tandem::test {
namespace {

using std::chrono::milliseconds;

TEST(ThreadBootstrapTest, AllGather_IsInRankOrder_RoundAfterRound) {
  run_ranks_as_threads(4, [](Bootstrap& bootstrap) {
    EXPECT_EQ(bootstrap.size(), 4);
    EXPECT_TRUE(bootstrap.shares_address_space());
    for (int round = 0; round < 100; ++round) {
      const auto all = bootstrap.all_gather(fmt::format("{}.{}", bootstrap.rank(), round));
      for (int rank = 0; rank < 4; ++rank) {
        EXPECT_EQ(all[static_cast<std::size_t>(rank)], fmt::format("{}.{}", rank, round));
      }
    }
  });
}

TEST(ThreadBootstrapTest, Texts_MayBeEmptyOrHoldZeros) {
  run_ranks_as_threads(2, [](Bootstrap& bootstrap) {
    const std::string mine = bootstrap.rank() == 0 ? "" : std::string("a\0b", 3);
    EXPECT_EQ(bootstrap.all_gather(mine), (std::vector<std::string>{"", std::string("a\0b", 3)}));
  });
}

TEST(ThreadBootstrapTest, Broadcast_IsRootsValue) {
  run_ranks_as_threads(3, [](Bootstrap& bootstrap) {
    for (int root = 0; root < 3; ++root) {
      EXPECT_EQ(broadcast(bootstrap, std::to_string(bootstrap.rank()), root), std::to_string(root));
    }
  });
}

TEST(ThreadBootstrapTest, LateRank_IsACommunicationErrorAtTheDeadline) {
  ThreadGroup group(2, milliseconds(50));
  const Error error = error_of([&] { static_cast<void>(group.all_gather(0, "")); });
  EXPECT_EQ(error.kind(), ErrorKind::kCommunication);
  EXPECT_TRUE(mentions(error, "in time")) << error.what();
}

TEST(ThreadBootstrapTest, AfterADeadline_TheGroupIsOver) {
  ThreadGroup group(2, milliseconds(10));
  static_cast<void>(error_of([&] { static_cast<void>(group.all_gather(0, "")); }));
  for (const int rank : {0, 1}) {  // would else meet the arrival that was given up
    EXPECT_EQ(error_of([&] { static_cast<void>(group.all_gather(rank, "")); }).kind(),
              ErrorKind::kCommunication);
  }
}

TEST(ThreadBootstrapTest, Split_RanksOfAColourAreAmongThemselves) {
  run_ranks_as_threads(5, [](Bootstrap& bootstrap) {
    const int colour = bootstrap.rank() % 2;  // 0 2 4 and 1 3
    const auto part = bootstrap.split(colour);
    EXPECT_EQ(part->size(), colour == 0 ? 3 : 2);
    EXPECT_EQ(part->rank(), bootstrap.rank() / 2);
    EXPECT_EQ(part->job_ranks(), colour == 0 ? (std::vector{0, 2, 4}) : (std::vector{1, 3}));
    EXPECT_EQ(own_job_rank(*part), bootstrap.rank());
    const auto last = part->split(part->rank() == 0 ? 0 : 1);  // a part of a part
    EXPECT_EQ(last->job_ranks().back(), part->rank() == 0 ? bootstrap.rank() : colour == 0 ? 4 : 3);
    const auto all = part->all_gather(std::to_string(bootstrap.rank()));
    EXPECT_EQ(all, colour == 0 ? (std::vector<std::string>{"0", "2", "4"})
                               : (std::vector<std::string>{"1", "3"}));
    const auto again = bootstrap.split(0);  // another one, of all
    EXPECT_EQ(again->size(), 5);
    if (colour == 0) static_cast<void>(part->all_gather(""));  // without the other colour
  });
}

TEST(ThreadBootstrapTest, Abort_EndsThePartsToo) {
  const Error error = error_of([] {
    run_ranks_as_threads(3, [](Bootstrap& bootstrap) {
      const auto part = bootstrap.split(bootstrap.rank() / 2);  // 0 and 1; 2 alone
      if (bootstrap.rank() == 1) fail(ErrorKind::kFailure, "rank 1 throws");
      static_cast<void>(part->all_gather(""));
    });
  });
  EXPECT_TRUE(mentions(error, "rank 1 throws")) << error.what();
}

TEST(ThreadBootstrapTest, Abort_WakesThoseWhoWait) {
  ThreadGroup group(2);  // whose deadline is a minute
  std::thread waiting([&group] {
    EXPECT_EQ(error_of([&] { static_cast<void>(group.all_gather(0, "")); }).kind(),
              ErrorKind::kCommunication);
  });
  group.abort();
  waiting.join();
}

TEST(ThreadBootstrapTest, AfterAnAbort_EveryExchangeFails) {
  ThreadGroup group(1);
  group.join(0)->abort(1);
  EXPECT_EQ(error_of([&] { static_cast<void>(group.all_gather(0, "")); }).kind(),
            ErrorKind::kCommunication);
}

TEST(RunRanksTest, CulpritsError_IsThrown_NotThatOfARankLeftAlone) {
  const Error error = error_of([] {
    run_ranks_as_threads(3, [](Bootstrap& bootstrap) {
      if (bootstrap.rank() == 2) fail(ErrorKind::kOutOfMemory, "the culprit");
      barrier(bootstrap);
    });
  });
  EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
  EXPECT_STREQ(error.what(), "the culprit");
}

TEST(RunRanksTest, OfSeveralCulprits_TheLowestRankIsThrown) {
  const Error error = error_of([] {
    run_ranks_as_threads(3, [](Bootstrap& bootstrap) {
      if (bootstrap.rank() != 0) fail(ErrorKind::kFailure, "rank {}", bootstrap.rank());
    });
  });
  EXPECT_STREQ(error.what(), "rank 1");
}

TEST(AttemptTogetherTest, Success_RunsOnceOnEveryRank) {
  std::array<int, 3> ran{};
  run_ranks_as_threads(3, [&ran](Bootstrap& bootstrap) {
    attempt_together(bootstrap, [&] { ++ran[static_cast<std::size_t>(bootstrap.rank())]; });
  });
  EXPECT_EQ(ran, (std::array<int, 3>{1, 1, 1}));
}

TEST(AttemptTogetherTest, FirstFailureByRank_IsThrownOnAll_WithItsKind) {
  run_ranks_as_threads(4, [](Bootstrap& bootstrap) {
    const Error error = error_of([&] {
      attempt_together(bootstrap, [&] {
        if (bootstrap.rank() == 1) fail(ErrorKind::kOutOfMemory, "rank 1 is full");
        if (bootstrap.rank() == 2) fail(ErrorKind::kUsage, "rank 2 disagrees");
      });
    });
    EXPECT_EQ(error.kind(), ErrorKind::kOutOfMemory);
    EXPECT_STREQ(error.what(), "rank 1 is full");
    barrier(bootstrap);  // all go on in step
  });
}

// Who gave up because others did says nothing of why.
TEST(AttemptTogetherTest, ThatOthersGaveUp_IsThrownLast) {
  run_ranks_as_threads(2, [](Bootstrap& bootstrap) {
    const Error error = error_of([&] {
      attempt_together(bootstrap, [&] {
        using Kind = PeerFailure::Kind;
        if (bootstrap.rank() == 0) fail(PeerFailure{.kind = Kind::kAborted}, "rank 0: aborted");
        fail(PeerFailure{.kind = Kind::kWaited}, "rank 1 waited");
      });
    });
    EXPECT_STREQ(error.what(), "rank 1 waited");
    EXPECT_EQ(error.peer_failure().kind, PeerFailure::Kind::kWaited);
    EXPECT_EQ(error.reach(), Error::Reach::kAllRanks);
  });
}

TEST(AttemptTogetherTest, EmptyMessage_IsStillAFailure) {
  run_ranks_as_threads(2, [](Bootstrap& bootstrap) {
    const Error error =
        error_of([&] { attempt_together(bootstrap, [] { fail(ErrorKind::kUsage, ""); }); });
    EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  });
}

}  // namespace
}  // namespace tandem::test
