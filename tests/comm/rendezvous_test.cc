// SPDX-License-Identifier: Apache-2.0
#include "common/comm/shared_memory/rendezvous.h"

#include <gtest/gtest.h>

#include <latch>
#include <memory>
#include <thread>
#include <vector>

#include "common/comm/bootstrap.h"
#include "tests/support/errors.h"

namespace tandem::test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class RendezvousTest : public testing::Test {
 protected:
  [[nodiscard]] Rendezvous side_of(int rank, int size, Nanoseconds deadline = seconds(60)) {
    return {*state_, {.ranks = all_job_ranks(size), .mine = rank, .deadline = deadline}};
  }

  // Runs body(rank's side, rank) on a thread per rank.
  void run(int size, const std::function<void(Rendezvous&, int)>& body,
           Nanoseconds deadline = seconds(60)) {
    std::vector<std::thread> ranks;
    for (int rank = 0; rank < size; ++rank) {
      ranks.emplace_back([this, &body, rank, size, deadline] {
        Rendezvous side = side_of(rank, size, deadline);
        body(side, rank);
      });
    }
    for (std::thread& rank : ranks) rank.join();
  }

  const std::unique_ptr<RendezvousState> state_ = std::make_unique<RendezvousState>();
};

TEST_F(RendezvousTest, Meeting_ShowsEachWhatAllWroteBefore) {
  std::array<int, 3> written{};
  run(3, [&written](Rendezvous& side, int rank) {
    for (int round = 1; round <= 200; ++round) {
      written[static_cast<std::size_t>(rank)] = round;
      side.meet();
      EXPECT_EQ(written, (std::array<int, 3>{round, round, round}));
      side.meet();
    }
  });
}

TEST_F(RendezvousTest, Alone_NobodyIsWaitedFor) {
  Rendezvous side = side_of(0, 1, milliseconds(0));
  EXPECT_NO_THROW(side.meet());
  EXPECT_NO_THROW(side.meet_for(7));
}

TEST_F(RendezvousTest, Deadline_NamesTheRankThatIsMissing) {
  run(
      3,
      [](Rendezvous& side, int rank) {
        if (rank == 1) return;
        const TimePoint start = Clock::now();
        const Error error = error_of([&] { side.meet(); });
        EXPECT_EQ(error.kind(), ErrorKind::kCommunication);
        EXPECT_TRUE(mentions(error, "for rank 1,")) << error.what();
        EXPECT_GE(Clock::now() - start, milliseconds(100));
        EXPECT_EQ(error.peer_failure().kind, PeerFailure::Kind::kWaited);
        EXPECT_EQ(error.peer_failure().awaited, std::vector<int>{1});
      },
      milliseconds(100));
}

TEST_F(RendezvousTest, Deadline_NamesAllWhoAreMissing) {
  run(
      4,
      [](Rendezvous& side, int rank) {
        if (rank != 0) return;
        const Error error = error_of([&] { side.meet(); });
        EXPECT_TRUE(mentions(error, "for ranks 1, 2, 3, which are lost")) << error.what();
        EXPECT_EQ(error.peer_failure().awaited, (std::vector<int>{1, 2, 3}));
      },
      milliseconds(100));
}

TEST_F(RendezvousTest, Abort_EndsThoseWhoWaitLongBeforeTheDeadline) {
  std::latch failed(1);
  run(3, [&failed](Rendezvous& side, int rank) {
    if (rank != 2) {
      const Error error = error_of([&] { side.meet(); });
      EXPECT_TRUE(mentions(error, "aborted")) << error.what();
      EXPECT_EQ(error.peer_failure().kind, PeerFailure::Kind::kAborted);
      if (rank == 0) failed.count_down();
      return;
    }
    side.abort();
    failed.wait();  // hangs for the deadline if abort does not wake the others
  });
}

TEST_F(RendezvousTest, AfterAnAbort_NoMeetingSucceeds_ThoughAllCome) {
  side_of(0, 3).abort();
  run(3, [](Rendezvous& side, int) {
    EXPECT_EQ(error_of([&] { side.meet(); }).kind(), ErrorKind::kCommunication);
  });
  Rendezvous alone = side_of(0, 1);
  EXPECT_EQ(error_of([&] { alone.meet(); }).kind(), ErrorKind::kCommunication);
}

TEST_F(RendezvousTest, DifferentNotes_AreAnErrorOnAllRanks) {
  run(3, [](Rendezvous& side, int rank) {
    EXPECT_NO_THROW(side.meet_for(5));
    side.meet();
    const Error error = error_of([&] { side.meet_for(rank == 1 ? 8 : 9); });
    EXPECT_EQ(error.kind(), ErrorKind::kCommunication);
    EXPECT_TRUE(mentions(error, "different collectives")) << error.what();
    EXPECT_EQ(error.peer_failure().kind, PeerFailure::Kind::kDiverged);
  });
}

TEST_F(RendezvousTest, MoreRanksThanANodeHolds_AreAUsageError) {
  const Error error = error_of([this] { static_cast<void>(side_of(0, kMaxRanks + 1)); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(mentions(error, "at most 64")) << error.what();
}

}  // namespace
}  // namespace tandem::test
