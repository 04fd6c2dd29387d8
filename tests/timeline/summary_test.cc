// SPDX-License-Identifier: Apache-2.0
#include "common/timeline/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/timeline/step_view.h"
#include "tests/timeline/samples.h"

namespace tandem::timeline {
namespace {

using testing::HasSubstr;

Nanoseconds time_of(int count) { return Nanoseconds{count}; }

TEST(Summary, FiguresAreOfTheDeviceThatEndedLast) {
  Trace trace = two_ranks();
  trace.processes[1].tracks[0].slices[0].end += time_of(3);  // of the step
  const StepFigures step = summary_of(trace).steps.at(0);
  EXPECT_EQ(step.length, time_of(163));
  EXPECT_EQ(step.rank, 1);
  EXPECT_EQ(step.communication, time_of(70));
  EXPECT_EQ(step.exposed, time_of(50));
  EXPECT_EQ(step.exposed_by_account, time_of(50));
  EXPECT_EQ(step.in_gaps, time_of(0));
  EXPECT_DOUBLE_EQ(step.overlap(), 20.0 / 70);
  EXPECT_EQ(step.end_skew, time_of(3));
  EXPECT_EQ(step.arrival_skew, time_of(30));
}

TEST(Summary, MeansAreOfEachDevice) {
  const TraceSummary summary = summary_of(two_ranks());
  ASSERT_EQ(summary.devices.size(), 2U);
  EXPECT_EQ(summary.devices[0].exposed, Seconds(time_of(80)));
  EXPECT_EQ(summary.devices[1].exposed, Seconds(time_of(50)));
  EXPECT_EQ(summary.devices[0].phases.at("backward"), Seconds(time_of(50)));
  EXPECT_THAT(to_json(summary), HasSubstr("\"communication\""));
}

TEST(Summary, GapsBetweenOperationsAreTheirOwn) {
  Trace trace = two_ranks();
  for (Slice& one : trace.processes[0].tracks[0].slices) {
    if (one.name == "backward_work") one.end -= time_of(15);  // until 55, of a collective until 60
  }
  const std::vector<StepView> steps = steps_of(trace);
  const DeviceStep& device = steps.front().devices.front();
  EXPECT_EQ(exposed_communication(device), time_of(80));
  EXPECT_EQ(communication_in_gaps(device), time_of(5));
}

// Rank 0 waits from 70 to 150.
TEST(Summary, HandOversAreWhatIsLeftOfAWaitInWhichACollectiveRan) {
  Trace trace = two_ranks();
  Slice& collective = trace.processes[0].tracks[1].slices[1];
  collective.begin += time_of(4);
  collective.end -= time_of(3);
  const auto handed_over = [&] { return hand_over(steps_of(trace).front().devices.front()); };
  EXPECT_EQ(handed_over(), time_of(7));
  EXPECT_EQ(exposed_communication(steps_of(trace).front().devices.front()), time_of(73));
  trace.processes[0].tracks[1].slices.pop_back();
  EXPECT_EQ(handed_over(), time_of(0));
}

TEST(Summary, CollectivesOfNoBucketAreInLine_AndWhatRunsBesideThemIsWork) {
  Trace trace = two_ranks();
  Track& compute = trace.processes[0].tracks[0];
  compute.slices.push_back(slice(SliceKind::kCollective, "broadcast", 5, 15));
  compute.slices.push_back(slice(SliceKind::kCollective, "all_reduce", 75, 80));  // while it waits
  sort_slices(compute);
  const std::vector<StepView> steps = steps_of(trace);
  const DeviceStep& device = steps.front().devices.front();
  EXPECT_EQ(communication_in_line(device), time_of(10));
  EXPECT_EQ(exposed_communication(device), time_of(80));
  EXPECT_EQ(communication_in_gaps(device), time_of(0));
  EXPECT_EQ(length(device.communication), time_of(110));
  EXPECT_FALSE(device.work.empty());
}

// Rank 0 waited 80: for 30 for rank 1, which was in backward, and for 50 for the transfer.
TEST(Summary, WaitsHaveTheirLongerCause) {
  std::vector<Wait> waits = summary_of(two_ranks()).waits;
  ASSERT_EQ(waits.size(), 2U);
  EXPECT_EQ(waits[0].rank, 0);
  EXPECT_EQ(waits[0].length, time_of(80));
  EXPECT_EQ(waits[0].cause, "bucket 1 (1.0 MiB) was in transfer");

  Trace late = two_ranks();
  for (Process& process : late.processes) {
    process.tracks[1].slices[1].end = time_of(125);
  }
  EXPECT_EQ(summary_of(late).waits[0].cause,
            "rank 1 device 1 came to bucket 1's collective 30 ns later, from backward");
}

TEST(Summary, AWaitForACollectiveOfNoBucketNamesIt) {
  Trace trace = two_ranks();
  for (Process& process : trace.processes) {
    Slice& one = process.tracks[1].slices[1];
    one.name = "all_reduce";
    one.index = -1;
  }
  EXPECT_EQ(summary_of(trace).waits.at(0).cause, "all_reduce (1.0 MiB) was in transfer");
}

TEST(Summary, AWaitThatIsMostlyHandOverSaysSo) {
  Trace trace = two_ranks();
  trace.processes[0].tracks[1].slices[1].begin = time_of(130);
  match_collectives(trace);
  EXPECT_EQ(summary_of(trace).waits.at(0).cause,
            "bucket 1's collective was yet to begin, or had ended, for 60 ns");
}

// Rank 1 begins its step when rank 0's collective has long begun.
TEST(Summary, LateRanksAreBlamedForWhatTheyDidMostOfTheTime) {
  Trace trace{.facts = {}, .processes = {}};
  for (int rank = 0; rank < 2; ++rank) {
    const int begin = rank == 0 ? 0 : 50;
    const int loss = rank == 0 ? 20 : 180;
    Process process{.rank = rank, .host = "here"};
    process.tracks.push_back(compute_track(
        rank, begin, {{"forward", begin + 10}, {"loss", loss}, {"exposed_comm", 200}}));
    Track comm{.device = rank, .name = "comm"};
    comm.slices = {collective(0, loss, 200)};
    process.tracks.push_back(comm);
    trace.processes.push_back(process);
  }
  match_collectives(trace);
  EXPECT_THAT(summary_of(trace).waits.front().cause, testing::EndsWith("later, from loss"));
}

TEST(Summary, IdleIsForTheDeviceWhoseWorkEnded) {
  Trace trace{.facts = {}, .processes = {{.rank = 0, .host = "here"}}};
  Process& only = trace.processes.front();
  only.tracks.push_back(compute_track(0, 0, {{"forward", 10}, {"idle", 55}, {"update", 75}}));
  only.tracks.push_back(compute_track(1, 5, {{"backward", 50}, {"idle", 52}}));
  const std::vector<Wait> waits = summary_of(trace).waits;
  EXPECT_EQ(waits.at(0).cause, "rank 0 device 1 was in backward");
  EXPECT_EQ(waits.at(1).cause, "no other device's work ended in it: the host had enqueued nothing");
}

}  // namespace
}  // namespace tandem::timeline
