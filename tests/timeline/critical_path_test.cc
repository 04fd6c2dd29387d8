// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "common/timeline/waits.h"
#include "tests/timeline/samples.h"

namespace tandem::timeline {
namespace {

using Path = std::map<std::string, Nanoseconds>;

Path path_of(const Trace& trace) { return critical_path(steps_of(trace).front()); }

Nanoseconds ns(int count) { return Nanoseconds{count}; }

TEST(CriticalPath, GoesThroughTheRankThatCameLast) {
  EXPECT_EQ(
      path_of(two_ranks()),
      (Path{{"update", ns(10)}, {kTransfer, ns(50)}, {"backward", ns(80)}, {"forward", ns(20)}}));
}

// A bucket that was ready long before waits for the stream, which the one before it holds.
TEST(CriticalPath, GoesThroughCollectivesThatFollowOneAnother) {
  Trace trace{.facts = {}, .processes = {{.rank = 0, .host = "here"}}};
  Process& only = trace.processes.front();
  only.tracks.push_back(
      compute_track(0, 0, {{"forward", 10}, {"backward", 30}, {"exposed_comm", 100}}));
  Track comm{.device = 0, .name = "comm"};
  comm.slices = {collective(0, 20, 60), collective(1, 62, 100)};
  only.tracks.push_back(comm);
  only.buckets = {{0, 1, 0, ns(20), ns(60)}, {0, 1, 1, ns(30), ns(100)}};
  EXPECT_EQ(
      path_of(trace),
      (Path{{kTransfer, ns(78)}, {kBetween, ns(2)}, {"backward", ns(10)}, {"forward", ns(10)}}));
}

TEST(CriticalPath, LeavesIdleForTheDeviceThatWasWaitedFor) {
  Trace trace{.facts = {}, .processes = {{.rank = 0, .host = "here"}}};
  Process& only = trace.processes.front();
  only.tracks.push_back(
      compute_track(0, 0, {{"forward", 10}, {"idle", 55}, {"reduce", 70}, {"update", 75}}));
  only.tracks.push_back(compute_track(1, 5, {{"forward", 20}, {"backward", 50}, {"idle", 75}}));
  EXPECT_EQ(path_of(trace), (Path{{"update", ns(5)},
                                  {"reduce", ns(15)},
                                  {"idle", ns(5)},
                                  {"backward", ns(30)},
                                  {"forward", ns(15)},
                                  {kLateStart, ns(5)}}));
}

// As where a collective had ended before compute came to it.
TEST(CriticalPath, PhasesThatTookNoTime_AreNoPartOfIt) {
  Trace trace{.facts = {}, .processes = {{.rank = 0, .host = "here"}}};
  trace.processes.front().tracks.push_back(
      compute_track(0, 0, {{"backward", 50}, {"exposed_comm", 50}, {"update", 70}}));
  EXPECT_EQ(path_of(trace), (Path{{"update", ns(20)}, {"backward", ns(50)}}));
}

TEST(CriticalPath, OfWhatTakesNoTime_Ends) {
  Trace trace{.facts = {}, .processes = {{.rank = 0, .host = "here"}}};
  Process& only = trace.processes.front();
  for (int device = 0; device < 2; ++device) {
    only.tracks.push_back(
        compute_track(device, 0, {{"idle", 10}, {"forward", 10}, {"idle", 10}, {"idle", 20}}));
  }
  EXPECT_EQ(path_of(trace), (Path{{"idle", ns(20)}}));
}

}  // namespace
}  // namespace tandem::timeline
