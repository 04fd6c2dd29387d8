// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/blame.h"

#include <gtest/gtest.h>

namespace tandem::cli {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// A rank in step 12, phase backward, that has finished all_reduce #34.
FlightRecord rank_in_step(int rank) {
  FlightRecord record{.rank = rank,
                      .world = 2,
                      .pid = 100 + rank,
                      .host = "node",
                      .enqueued = {12, "idle"},
                      .device = {12, "backward"},
                      .started = 34,
                      .finished = 34,
                      .collectives = {},
                      .failure = {},
                      .ended = false};
  record.collectives.push_back({34, "all_reduce", 4 << 20, kSecond, kSecond, kSecond});
  return record;
}

// The same rank in all_reduce #35.
FlightRecord rank_in_collective(int rank) {
  FlightRecord record = rank_in_step(rank);
  record.started = 35;
  record.collectives.push_back({35, "all_reduce", 4 << 20, kSecond, 2 * kSecond, 0});
  return record;
}

FlightRecord waited_for(int awaited, FlightRecord record) {
  record.failure = {"rank " + std::to_string(record.rank) + " waited 3.0 s for rank " +
                        std::to_string(awaited) + ", which is lost or late: look at its output",
                    true, 5 * kSecond};
  return record;
}

FlightRecord failing(const std::string& text, FlightRecord record, std::int64_t at = kSecond) {
  record.failure = {text, false, at};
  return record;
}

TEST(Blame, KilledRank_IsNamedWithThePlaceAndTheCollectiveThatItMissed) {
  const RankEnd killed{.rank = 1, .signal = 9};
  EXPECT_EQ(blame({rank_in_collective(0), rank_in_step(1)}, killed),
            "rank 1 was killed (SIGKILL) in step 12, phase backward, before all_reduce #35 "
            "(4.0 MiB)");
  EXPECT_EQ(blame({rank_in_step(0), rank_in_collective(1)}, killed),
            "rank 1 was killed (SIGKILL) in step 12, phase backward, in all_reduce #35 (4.0 MiB)");
  EXPECT_EQ(blame({waited_for(1, rank_in_collective(0)), rank_in_step(1)}, killed),
            "rank 1 was killed (SIGKILL) in step 12, phase backward, before all_reduce #35 "
            "(4.0 MiB); rank 0 waited 3 s for it");
  EXPECT_EQ(blame({rank_in_step(0)}, killed), "rank 1 was killed (SIGKILL) before its first step");
}

TEST(Blame, StoppedRank_IsTheOneThatGotLeastFar) {
  EXPECT_EQ(blame({waited_for(1, rank_in_collective(0)), rank_in_step(1)}, std::nullopt),
            "rank 1 did not go on from step 12, phase backward, before all_reduce #35 (4.0 MiB); "
            "rank 0 waited 3 s for it: it was stopped, or late");
}

TEST(Blame, StoppedRankOfThree_IsNotTheOneThatWasEndedWhileItWaited) {
  const std::string reason = blame(
      {waited_for(2, rank_in_collective(0)), rank_in_collective(1), rank_in_step(2)}, std::nullopt);
  EXPECT_TRUE(reason.starts_with("rank 2 did not go on")) << reason;
  // Stopped within the collective: only those who waited know.
  const std::string within =
      blame({waited_for(2, rank_in_collective(0)), rank_in_collective(1), rank_in_collective(2)},
            std::nullopt);
  EXPECT_TRUE(within.starts_with("rank 2 did not go on")) << within;
}

TEST(Blame, StoppedRankThatWentOnWhenTheJobEnded_IsStillTheOne) {
  FlightRecord went_on = rank_in_collective(1);
  went_on.failure = {"rank 1: the communicator was aborted", true, 6 * kSecond};
  FlightRecord told = rank_in_collective(2);
  told.failure = {"rank 2: the communicator was aborted", true, 6 * kSecond};
  const std::string reason =
      blame({waited_for(1, rank_in_collective(0)), went_on, told}, std::nullopt);
  EXPECT_TRUE(
      reason.starts_with("rank 1 did not go on from step 12, phase backward, in all_reduce"))
      << reason;
}

TEST(Blame, LateRank_IsAtTheStart) {
  FlightRecord waiting = waited_for(1, {.rank = 0, .world = 2, .device = {0, "join"}});
  const FlightRecord late{.rank = 1, .world = 2, .enqueued = {0, "start"}};
  EXPECT_EQ(blame({waiting, late}, std::nullopt),
            "rank 1 did not go on from step 0, phase start, before any collective: it was stopped, "
            "or late");
}

// The first to give up ends the job; another that had come too did not get to say so.
TEST(Blame, LateRank_IsNotOneThatWasThere) {
  FlightRecord waited{.rank = 0, .world = 3, .enqueued = {0, "meet"}};
  waited.failure = {"rank 0 waited 3 s for another rank, which is lost or late: look at its output",
                    true, 5 * kSecond};
  const FlightRecord there{.rank = 1, .world = 3, .enqueued = {0, "meet"}};
  const FlightRecord late{.rank = 2, .world = 3, .enqueued = {0, "join"}};
  const std::string reason = blame({waited, there, late}, std::nullopt);
  EXPECT_TRUE(reason.starts_with("rank 2 did not go on from step 0, phase join")) << reason;
}

TEST(Blame, RankWithoutRecord_NeverBegan) {
  const std::string reason = blame({waited_for(1, rank_in_step(0))}, std::nullopt);
  EXPECT_TRUE(reason.starts_with("rank 1 never began; rank 0 gave up in step 12")) << reason;
}

TEST(Blame, OwnError_IsTheFirstInTime) {
  const std::string reason = blame({failing("a later one", rank_in_step(0), 3 * kSecond),
                                    failing("a bad weight", rank_in_step(1), 2 * kSecond)},
                                   std::nullopt);
  EXPECT_EQ(reason,
            "rank 1 failed in step 12, phase backward, after all_reduce #34 (4.0 MiB): a bad "
            "weight");
}

TEST(Blame, ErrorThatAllMet_IsSaidOnce) {
  FlightRecord building = rank_in_step(0);
  building.device = {0, "build"};
  building.enqueued = {0, "build"};
  FlightRecord other = building;
  other.rank = 1;
  EXPECT_EQ(blame({failing("no room", building), failing("no room", other)}, std::nullopt), "");
  EXPECT_EQ(blame({failing("no room", rank_in_step(0)), failing("no room", rank_in_step(1))},
                  std::nullopt),
            "no room (in rank 0, step 12, phase backward, after all_reduce #34 (4.0 MiB))");
}

TEST(Blame, RanksInDifferentCollectives_AreBothNamed) {
  const auto differ = [](FlightRecord record) {
    record.failure = {"rank 0 and rank 1 enqueued different collectives", true, kSecond};
    return record;
  };
  FlightRecord other = rank_in_step(1);
  other.started = 35;
  other.collectives.push_back({35, "broadcast", 4, kSecond, kSecond, 0});
  EXPECT_EQ(
      blame({differ(rank_in_collective(0)), differ(other)}, std::nullopt),
      "ranks 0 and 1 went different ways in step 12, phase backward: rank 0 called all_reduce "
      "#35 (4.0 MiB), rank 1 called broadcast #35 (4 B)");
}

TEST(Blame, RankThatLeft_IsNamedWithItsCode) {
  EXPECT_EQ(blame({rank_in_collective(0), rank_in_step(1)}, RankEnd{.rank = 1, .exit_code = 7}),
            "rank 1 left with exit code 7 in step 12, phase backward, before all_reduce #35 "
            "(4.0 MiB)");
}

TEST(Blame, RankThatLeftBeforeItsRecord_IsNamedWithItsLastWords) {
  EXPECT_EQ(blame({rank_in_step(0)}, RankEnd{.rank = 1, .exit_code = 1}, "no such library"),
            "rank 1 left with exit code 1 before its first step: no such library");
}

TEST(Blame, RankThatLeftBecauseItWaited_IsNotToBlame) {
  const std::string reason =
      blame({rank_in_collective(0), rank_in_step(1)}, RankEnd{.rank = 0, .exit_code = 1},
            "rank 0 waited 3 s in all_reduce (#35, 4.0 MiB) for ranks that are lost or late");
  EXPECT_TRUE(reason.starts_with("rank 1 did not go on from step 12, phase backward, before"))
      << reason;
}

TEST(Blame, OfRanksInOneCollective_TheOneThatCameLongAfter_OrNobodyForSure) {
  const RankEnd gave_up{.rank = 2, .exit_code = 1};
  const std::string said = "rank 2 waited 3 s in all_reduce (#35, 4.0 MiB) for ranks that are lost";
  FlightRecord late = rank_in_collective(1);
  const std::vector<FlightRecord> alike{rank_in_collective(0), late, rank_in_collective(2)};
  EXPECT_TRUE(blame(alike, gave_up, said).starts_with("one of ranks 0, 1 did not go on"))
      << blame(alike, gave_up, said);
  late.collectives.back().started += 3 * kSecond;
  const std::string reason =
      blame({rank_in_collective(0), late, rank_in_collective(2)}, gave_up, said);
  EXPECT_TRUE(reason.starts_with("rank 1 did not go on from step 12")) << reason;
}

TEST(Blame, RanksThatLostEachOther_AreBlamedForNothing) {
  const std::string reason = blame(
      {waited_for(1, rank_in_collective(0)), waited_for(0, rank_in_collective(1))}, std::nullopt);
  EXPECT_TRUE(reason.starts_with("rank 0 gave up in step 12, phase backward, in all_reduce #35"))
      << reason;
}

TEST(Blame, LostNode_NamesItsRanksWhateverElseWasSeen) {
  FlightRecord there = rank_in_step(1);
  there.host = "node7";
  const RankEnd killed{.rank = 0, .signal = 15};  // by the launcher, once it had lost the node
  EXPECT_EQ(blame({rank_in_collective(0), there}, killed, "", "node7"),
            "rank 1 was lost with node7, which its launcher no longer reaches, in step 12, phase "
            "backward, before all_reduce #35 (4.0 MiB)");
  FlightRecord beside = rank_in_collective(2);
  beside.host = "node7";
  EXPECT_EQ(blame({rank_in_collective(0), there, beside}, std::nullopt, "", "node7"),
            "ranks 1, 2 were lost with node7, which its launcher no longer reaches, in step 12, "
            "phase backward, before all_reduce #35 (4.0 MiB)");
  EXPECT_TRUE(blame({rank_in_collective(0), there}, killed, "", "node8").starts_with("rank 0 was"));
}

TEST(Blame, NothingKnown_IsNoBlame) { EXPECT_EQ(blame({}, std::nullopt), ""); }

TEST(LeastFar, IsTheRankBehind) {
  EXPECT_EQ(least_far({rank_in_collective(0), rank_in_step(1)}),
            "rank 1, step 12, phase backward, before all_reduce #35 (4.0 MiB)");
  EXPECT_EQ(least_far({}), "");
}

}  // namespace
}  // namespace tandem::cli
