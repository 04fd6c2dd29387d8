// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/launch/failure_reason.h"

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

FlightRecord failed(FailureKind kind, FlightRecord record, std::int64_t at = 5 * kSecond) {
  record.failure = {
      .kind = kind, .text = "whatever rank " + std::to_string(record.rank) + " says", .at = at};
  return record;
}

FlightRecord waited(FlightRecord record, std::int64_t at = 5 * kSecond) {
  record = failed(FailureKind::kWaited, std::move(record), at);
  record.failure->waited = 3 * kSecond;
  return record;
}

FlightRecord waited_for(int awaited, FlightRecord record) {
  record = waited(std::move(record));
  record.failure->awaited = {awaited};
  return record;
}

FlightRecord failing(const std::string& text, FlightRecord record, std::int64_t at = kSecond) {
  record = failed(FailureKind::kOwn, std::move(record), at);
  record.failure->text = text;
  return record;
}

TEST(FailureReason, KilledRank_IsNamedWithThePlaceAndTheCollectiveThatItMissed) {
  const RankEnd killed{.rank = 1, .signal = 9};
  EXPECT_EQ(failure_reason({rank_in_collective(0), rank_in_step(1)}, killed),
            "rank 1 was killed (SIGKILL) in step 12, phase backward, before all_reduce #35 "
            "(4.0 MiB)");
  EXPECT_EQ(failure_reason({rank_in_step(0), rank_in_collective(1)}, killed),
            "rank 1 was killed (SIGKILL) in step 12, phase backward, in all_reduce #35 (4.0 MiB)");
  EXPECT_EQ(failure_reason({waited_for(1, rank_in_collective(0)), rank_in_step(1)}, killed),
            "rank 1 was killed (SIGKILL) in step 12, phase backward, before all_reduce #35 "
            "(4.0 MiB); rank 0 waited 3 s for it");
  EXPECT_EQ(failure_reason({rank_in_step(0)}, killed),
            "rank 1 was killed (SIGKILL) before its first step");
}

TEST(FailureReason, StoppedRank_IsTheOneThatGotLeastFar) {
  EXPECT_EQ(failure_reason({waited_for(1, rank_in_collective(0)), rank_in_step(1)}, std::nullopt),
            "rank 1 did not go on from step 12, phase backward, before all_reduce #35 (4.0 MiB); "
            "rank 0 waited 3 s for it: it was stopped, or late");
}

// Nobody else had time to say that it gave up, and all were in the same collective.
TEST(FailureReason, RankSeenStopped_IsTheOne_WhoeverElseIsSilent) {
  FlightRecord saw_it = waited(rank_in_collective(1));
  saw_it.failure->stopped = {2};
  const std::string reason =
      failure_reason({rank_in_collective(0), saw_it, rank_in_collective(2)}, std::nullopt);
  EXPECT_EQ(
      reason,
      "rank 2 did not go on from step 12, phase backward, in all_reduce #35 (4.0 MiB); rank 1 "
      "waited 3 s for it: it was stopped");
}

TEST(FailureReason, SeveralRanksSeenStopped_AreAllNamed) {
  FlightRecord saw_them = waited(rank_in_collective(0));
  saw_them.failure->stopped = {1, 2};
  const std::string reason =
      failure_reason({saw_them, rank_in_step(1), rank_in_collective(2)}, std::nullopt);
  EXPECT_EQ(
      reason,
      "ranks 1, 2 did not go on from step 12, phase backward, before all_reduce #35 (4.0 MiB); "
      "rank 0 waited 3 s for it: they were stopped");
}

// The end of the job let it go on, and it then spoke as if it had waited as well.
TEST(FailureReason, RankSeenStopped_IsTheOne_WhateverItSaidLater) {
  FlightRecord saw_it = waited(rank_in_collective(0));
  saw_it.failure->stopped = {1};
  const std::string reason = failure_reason(
      {saw_it, waited(rank_in_collective(1)), waited(rank_in_collective(2))}, std::nullopt);
  EXPECT_TRUE(reason.starts_with("rank 1 did not go on")) << reason;
}

TEST(FailureReason, StoppedRankOfThree_IsNotTheOneThatWasEndedWhileItWaited) {
  const std::string reason = failure_reason(
      {waited_for(2, rank_in_collective(0)), rank_in_collective(1), rank_in_step(2)}, std::nullopt);
  EXPECT_TRUE(reason.starts_with("rank 2 did not go on")) << reason;
  // Stopped within the collective: only those who waited know.
  const std::string within = failure_reason(
      {waited_for(2, rank_in_collective(0)), rank_in_collective(1), rank_in_collective(2)},
      std::nullopt);
  EXPECT_TRUE(within.starts_with("rank 2 did not go on")) << within;
}

TEST(FailureReason, StoppedRankThatWentOnWhenTheJobEnded_IsStillTheOne) {
  const FlightRecord went_on = failed(FailureKind::kAborted, rank_in_collective(1), 6 * kSecond);
  const FlightRecord aborted = failed(FailureKind::kAborted, rank_in_collective(2), 6 * kSecond);
  const std::string reason =
      failure_reason({waited_for(1, rank_in_collective(0)), went_on, aborted}, std::nullopt);
  EXPECT_TRUE(
      reason.starts_with("rank 1 did not go on from step 12, phase backward, in all_reduce"))
      << reason;
}

// What ended them both, such as a launcher, says so elsewhere.
TEST(FailureReason, RanksOfWhichNoneComplains_AreNotToBlame) {
  EXPECT_EQ(failure_reason({rank_in_step(0), rank_in_step(1)}, std::nullopt), "");
}

TEST(FailureReason, LateRank_IsAtTheStart) {
  FlightRecord waiting = waited_for(1, {.rank = 0, .world = 2, .device = {0, "join"}});
  const FlightRecord late{.rank = 1, .world = 2, .enqueued = {0, "start"}};
  EXPECT_EQ(
      failure_reason({waiting, late}, std::nullopt),
      "rank 1 did not go on from step 0, phase start, before any collective; rank 0 waited 3 s "
      "for it: it was stopped, or late");
}

// The first to give up ends the job; another that had come too did not get to say so.
TEST(FailureReason, LateRank_IsNotOneThatWasThere) {
  const FlightRecord first = waited({.rank = 0, .world = 3, .enqueued = {0, "meet"}});
  const FlightRecord there{.rank = 1, .world = 3, .enqueued = {0, "meet"}};
  const FlightRecord late{.rank = 2, .world = 3, .enqueued = {0, "join"}};
  const std::string reason = failure_reason({first, there, late}, std::nullopt);
  EXPECT_TRUE(reason.starts_with("rank 2 did not go on from step 0, phase join")) << reason;
}

TEST(FailureReason, RankWithoutRecord_NeverBegan) {
  const std::string reason = failure_reason({waited_for(1, rank_in_step(0))}, std::nullopt);
  EXPECT_TRUE(reason.starts_with("rank 1 never began; rank 0 gave up in step 12")) << reason;
}

TEST(FailureReason, OwnError_IsTheFirstInTime) {
  const std::string reason = failure_reason({failing("a later one", rank_in_step(0), 3 * kSecond),
                                             failing("a bad weight", rank_in_step(1), 2 * kSecond)},
                                            std::nullopt);
  EXPECT_EQ(reason,
            "rank 1 failed in step 12, phase backward, after all_reduce #34 (4.0 MiB): a bad "
            "weight");
}

TEST(FailureReason, ErrorThatAllMet_IsSaidOnce) {
  FlightRecord building = rank_in_step(0);
  building.device = {0, "build"};
  building.enqueued = {0, "build"};
  FlightRecord other = building;
  other.rank = 1;
  EXPECT_EQ(failure_reason({failing("no room", building), failing("no room", other)}, std::nullopt),
            "");
  EXPECT_EQ(
      failure_reason({failing("no room", rank_in_step(0)), failing("no room", rank_in_step(1))},
                     std::nullopt),
      "no room (in rank 0, step 12, phase backward, after all_reduce #34 (4.0 MiB))");
}

TEST(FailureReason, RanksInDifferentCollectives_AreBothNamed) {
  const auto differ = [](FlightRecord record) {
    return failed(FailureKind::kDiverged, std::move(record));
  };
  FlightRecord other = rank_in_step(1);
  other.started = 35;
  other.collectives.push_back({35, "broadcast", 4, kSecond, kSecond, 0});
  EXPECT_EQ(
      failure_reason({differ(rank_in_collective(0)), differ(other)}, std::nullopt),
      "ranks 0 and 1 went different ways in step 12, phase backward: rank 0 called all_reduce "
      "#35 (4.0 MiB), rank 1 called broadcast #35 (4 B)");
}

TEST(FailureReason, RankThatLeft_IsNamedWithItsCode) {
  EXPECT_EQ(
      failure_reason({rank_in_collective(0), rank_in_step(1)}, RankEnd{.rank = 1, .exit_code = 7}),
      "rank 1 left with exit code 7 in step 12, phase backward, before all_reduce #35 "
      "(4.0 MiB)");
}

TEST(FailureReason, RankThatLeftBeforeItsRecord_IsNamedWithItsLastWords) {
  EXPECT_EQ(
      failure_reason({rank_in_step(0)}, RankEnd{.rank = 1, .exit_code = 1}, "no such library"),
      "rank 1 left with exit code 1 before its first step: no such library");
}

TEST(FailureReason, RankThatLeftBecauseItWaited_IsNotToBlame) {
  const std::string reason = failure_reason({waited(rank_in_collective(0)), rank_in_step(1)},
                                            RankEnd{.rank = 0, .exit_code = 1});
  EXPECT_TRUE(reason.starts_with("rank 1 did not go on from step 12, phase backward, before"))
      << reason;
}

TEST(FailureReason, OfRanksInOneCollective_TheOneThatSaysNothing) {
  const std::string reason = failure_reason({waited(rank_in_collective(0)), rank_in_collective(1),
                                             waited(rank_in_collective(2), 6 * kSecond)},
                                            RankEnd{.rank = 2, .exit_code = 1});
  EXPECT_TRUE(reason.starts_with("rank 1 did not go on from step 12, phase backward, in all"))
      << reason;
}

// Stopped as the root of a collective: the others may be further than it, or less far.
TEST(FailureReason, RankThatSpoke_IsNotTakenForTheStoppedOne_HoweverLittleFarItGot) {
  const std::string reason = failure_reason(
      {rank_in_collective(0), waited(rank_in_step(1)), waited(rank_in_collective(2))},
      RankEnd{.rank = 1, .exit_code = 1});
  EXPECT_TRUE(reason.starts_with("rank 0 did not go on from")) << reason;
}

TEST(FailureReason, WordsAfterTheEndOfTheJob_AreThoseOfTheStoppedRank) {
  FlightRecord ends = waited(rank_in_collective(0));
  ends.ended_job = 6 * kSecond;
  const FlightRecord resumed = waited(rank_in_collective(1), 7 * kSecond);
  const FlightRecord other = waited(rank_in_collective(2), 5 * kSecond + 1);
  const std::string reason = failure_reason({ends, resumed, other}, std::nullopt);
  EXPECT_TRUE(reason.starts_with("rank 1 did not go on")) << reason;
  FlightRecord elsewhere = resumed;  // whose clock says nothing here
  elsewhere.host = "node7";
  EXPECT_FALSE(
      failure_reason({ends, elsewhere, other}, std::nullopt).starts_with("rank 1 did not go on"));
}

TEST(FailureReason, OfSeveralSilentRanks_TheAwaitedOne_OrTheOneThatCameLongAfter_OrNobodyForSure) {
  FlightRecord late = rank_in_collective(1);
  const FlightRecord gave_up = waited(rank_in_collective(2));
  const std::string unsure = failure_reason({rank_in_collective(0), late, gave_up}, std::nullopt);
  EXPECT_TRUE(unsure.starts_with("one of ranks 0, 1 did not go on")) << unsure;
  const std::string named = failure_reason(
      {rank_in_collective(0), late, waited_for(1, rank_in_collective(2))}, std::nullopt);
  EXPECT_TRUE(named.starts_with("rank 1 did not go on")) << named;
  late.collectives.back().started += 3 * kSecond;
  const std::string reason = failure_reason({rank_in_collective(0), late, gave_up}, std::nullopt);
  EXPECT_TRUE(reason.starts_with("rank 1 did not go on from step 12")) << reason;
}

TEST(FailureReason, BrokenConnections_PointAtWhoLeftNoWord) {
  const std::string reason =
      failure_reason({failed(FailureKind::kLost, rank_in_collective(0)), rank_in_step(1),
                      failed(FailureKind::kLost, rank_in_step(2))},
                     RankEnd{.rank = 0, .exit_code = 1});
  EXPECT_EQ(reason,
            "rank 1 did not go on from step 12, phase backward, before all_reduce #35 (4.0 MiB): "
            "its connections broke, and it left no word");
  // One whose patience ended closes its connections, and others see those break.
  const std::string stopped = failure_reason({failed(FailureKind::kLost, rank_in_collective(0)),
                                              rank_in_step(1), waited(rank_in_collective(2))},
                                             std::nullopt);
  EXPECT_TRUE(stopped.ends_with("rank 2 waited 3 s for it: it was stopped, or late")) << stopped;
}

TEST(FailureReason, RanksThatAllWaited_InDifferentCollectives_WentDifferentWays) {
  FlightRecord other = rank_in_step(1);
  other.started = 35;
  other.collectives.push_back({35, "all_reduce", 4, kSecond, kSecond, 0});
  const std::string reason =
      failure_reason({waited(rank_in_collective(0)), waited(other)}, std::nullopt);
  EXPECT_TRUE(reason.starts_with("ranks 0 and 1 went different ways in step 12")) << reason;
  // Uneven parts go through different calls by the same numbers.
  FlightRecord uneven = rank_in_step(1);
  uneven.started = 35;
  uneven.collectives.push_back({35, "scatter", 4, kSecond, kSecond, 0});
  EXPECT_TRUE(failure_reason({waited(rank_in_collective(0)), waited(uneven)}, std::nullopt)
                  .starts_with("rank 0 gave up"));
}

TEST(FailureReason, CauseIsToldBeforeTheConsequence) {
  const std::string reason =
      failure_reason({failed(FailureKind::kAborted, rank_in_collective(0), 4 * kSecond),
                      waited(rank_in_collective(1))},
                     std::nullopt);
  EXPECT_TRUE(reason.starts_with("rank 1 gave up")) << reason;
}

TEST(FailureReason, OutOfMemory_IsAResult_WithItsPlace) {
  FlightRecord small = failing("host:1 is out of memory", rank_in_step(1));
  small.failure->kind = FailureKind::kOutOfMemory;
  EXPECT_EQ(out_of_memory({failed(FailureKind::kAborted, rank_in_collective(0)), small}),
            "out of memory: rank 1 in step 12, phase backward, before all_reduce #35 (4.0 MiB): "
            "host:1 is out of memory");
  FlightRecord thread = small;
  thread.rank = 0;
  EXPECT_EQ(out_of_memory({thread, small}),
            "out of memory: in step 12, phase backward, after all_reduce #34 (4.0 MiB): host:1 is "
            "out of memory");
  EXPECT_EQ(out_of_memory({failing("first", rank_in_step(0), kSecond - 1), small}), "");
  small.device = small.enqueued = {0, "build"};
  EXPECT_EQ(out_of_memory({rank_in_step(0), small}), "");
  EXPECT_EQ(out_of_memory({}), "");
}

TEST(FailureReason, RanksThatLostEachOther_AreBlamedForNothing) {
  const std::string reason = failure_reason(
      {waited_for(1, rank_in_collective(0)), waited_for(0, rank_in_collective(1))}, std::nullopt);
  EXPECT_TRUE(reason.starts_with("rank 0 gave up in step 12, phase backward, in all_reduce #35"))
      << reason;
}

TEST(FailureReason, LostNode_NamesItsRanksWhateverElseWasSeen) {
  FlightRecord there = rank_in_step(1);
  there.host = "node7";
  const RankEnd killed{.rank = 0, .signal = 15};  // by the launcher, once it had lost the node
  EXPECT_EQ(failure_reason({rank_in_collective(0), there}, killed, "", "node7"),
            "rank 1 was lost with node7, which its launcher no longer reaches, in step 12, phase "
            "backward, before all_reduce #35 (4.0 MiB)");
  FlightRecord beside = rank_in_collective(2);
  beside.host = "node7";
  EXPECT_EQ(failure_reason({rank_in_collective(0), there, beside}, std::nullopt, "", "node7"),
            "ranks 1, 2 were lost with node7, which its launcher no longer reaches, in step 12, "
            "phase backward, before all_reduce #35 (4.0 MiB)");
  EXPECT_TRUE(failure_reason({rank_in_collective(0), there}, killed, "", "node8")
                  .starts_with("rank 0 was"));
}

TEST(FailureReason, NothingKnown_IsNoBlame) { EXPECT_EQ(failure_reason({}, std::nullopt), ""); }

TEST(LeastFar, IsTheRankBehind) {
  EXPECT_EQ(least_far({rank_in_collective(0), rank_in_step(1)}),
            "rank 1, step 12, phase backward, before all_reduce #35 (4.0 MiB)");
  EXPECT_EQ(least_far({}), "");
}

}  // namespace
}  // namespace tandem::cli
