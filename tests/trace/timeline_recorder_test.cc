// SPDX-License-Identifier: Apache-2.0
#include "common/trace/timeline_recorder.h"

#include <gtest/gtest.h>

#include "common/runtime/host/host_stream.h"
#include "common/trace/phase_timer.h"
#include "common/trace/timeline_marks.h"
#include "tests/support/errors.h"
#include "tests/support/host_devices.h"

namespace tandem::test {
namespace {

using std::chrono::milliseconds;
using timeline::Slice;
using timeline::SliceKind;
using timeline::Track;
using What = TimelineMark::What;

TimelineMark mark(What what, int at, const std::string& name = "", std::size_t stream = 0) {
  return {.what = what, .stream = stream, .at = Nanoseconds{at}, .name = name};
}

TimelineMark collective(What what, int at, int index) {
  TimelineMark made = mark(what, at, "collective", 1);
  made.kind = SliceKind::kCollective;
  made.index = index;
  return made;
}

std::string text_of(const Track& track) {
  std::string text;
  for (const Slice& one : track.slices) {
    text += fmt::format("{} {} {}-{}; ", timeline::kKindNames[static_cast<std::size_t>(one.kind)],
                        one.name, one.begin.count(), one.end.count());
  }
  return text;
}

TEST(TimelineMarks, PhasesPartitionAStep_AndHoldTheirWork) {
  const timeline::Process process =
      timeline_of(3, {mark(What::kPhaseBegins, 10, "forward"), mark(What::kWorkBegins, 11, "relu"),
                      mark(What::kWorkEnds, 14), mark(What::kPhaseBegins, 20, "update"),
                      mark(What::kStepEnds, 30), mark(What::kPhaseBegins, 40, "forward"),
                      mark(What::kStepEnds, 50)});
  ASSERT_EQ(process.tracks.size(), 1U);
  EXPECT_EQ(process.tracks[0].device, 3);
  EXPECT_EQ(process.tracks[0].name, "compute");
  EXPECT_EQ(text_of(process.tracks[0]),
            "step step 10-30; phase forward 10-20; kernel_group relu 11-14; phase update 20-30; "
            "step step 40-50; phase forward 40-50; ");
  EXPECT_EQ(process.tracks[0].slices.back().step, 2);
}

TEST(TimelineMarks, CollectivesAreNumberedOverSteps_BucketsWithinThem) {
  std::vector<TimelineMark> marks;
  for (int step = 0; step < 2; ++step) {
    marks.push_back(mark(What::kPhaseBegins, 100 * step, "backward"));
    for (int index = 0; index < 2; ++index) {
      marks.push_back({.what = What::kBucketReady, .at = Nanoseconds{100 * step}, .index = index});
      marks.push_back(collective(What::kWorkBegins, 100 * step + 20 * index, index));
      marks.push_back(collective(What::kWorkEnds, 100 * step + 20 * index + 9, index));
      marks.push_back({.what = What::kBucketBack, .at = Nanoseconds{100 * step}, .index = index});
    }
    marks.push_back(mark(What::kStepEnds, 100 * step + 90));
  }
  const timeline::Process process = timeline_of(0, marks);
  ASSERT_EQ(process.tracks.size(), 2U);
  const Track& comm = process.tracks[1];
  EXPECT_EQ(comm.name, "comm");
  ASSERT_EQ(comm.slices.size(), 4U);
  EXPECT_EQ(comm.slices[3].sequence, 3);
  EXPECT_EQ(comm.slices[3].index, 1);
  ASSERT_EQ(process.buckets.size(), 4U);
  EXPECT_EQ(process.buckets[3].step, 2);
  EXPECT_TRUE(process.buckets[3].ready && process.buckets[3].back);
}

TEST(TimelineMarks, AbandonedStep_LeavesNothing) {
  const timeline::Process process =
      timeline_of(0, {mark(What::kPhaseBegins, 10, "forward"),
                      mark(What::kWorkBegins, 11, "relu"),
                      {.what = What::kBucketReady, .at = Nanoseconds{12}, .index = 0},
                      mark(What::kStepAbandoned, 0),
                      mark(What::kPhaseBegins, 40, "forward"),
                      mark(What::kStepEnds, 50)});
  ASSERT_EQ(process.tracks.size(), 1U);
  EXPECT_EQ(text_of(process.tracks[0]), "step step 40-50; phase forward 40-50; ");
  EXPECT_EQ(process.tracks[0].slices[0].step, 1);
  EXPECT_TRUE(process.buckets.empty());
}

class TimelineRecorderTest : public testing::Test {
 protected:
  void step() {
    timer_.begin(*stream_, Phase::kForward);
    stream_->delay(milliseconds(2));
    timer_.begin(*stream_, Phase::kUpdate);
    timer_.end_step(*stream_);
    stream_->synchronize();
  }

  const std::unique_ptr<Platform> platform_ = host_devices(1);
  Device& device_ = platform_->device(0);
  TimelineRecorder recorder_;
  PhaseTimer timer_{device_, PhaseOptions{PhaseTiming::kOff, std::nullopt, {&recorder_}}};
  const std::unique_ptr<Stream> stream_ = device_.make_stream(StreamPriority::kNormal);
};

TEST_F(TimelineRecorderTest, StepsAreRecordedWhileItIsOn_AtTheTimesOfTheHost) {
  step();
  const Nanoseconds before = Clock::now().time_since_epoch();
  recorder_.start();
  step();
  recorder_.stop();
  const Nanoseconds after = Clock::now().time_since_epoch();
  step();
  const timeline::Process process = recorder_.collect();
  ASSERT_EQ(process.tracks.size(), 1U);
  ASSERT_EQ(process.tracks[0].slices.size(), 3U);
  const Slice& forward = process.tracks[0].slices[1];
  EXPECT_EQ(forward.name, "forward");
  EXPECT_GE(forward.length(), milliseconds(2));
  EXPECT_LE(before, forward.begin);
  EXPECT_LE(process.tracks[0].slices[0].end, after);
  EXPECT_EQ(process.clock_error, Nanoseconds{0});
  EXPECT_TRUE(recorder_.collect().tracks.empty());
}

TEST_F(TimelineRecorderTest, CopiesAndCollectivesAreOnTheirStreams) {
  const auto memory = device_.allocate(kib(8));
  const auto comm = device_.make_stream(StreamPriority::kHigh);
  CollectiveTimer collectives(device_, timer_.options());
  recorder_.start();
  timer_.begin(*stream_, Phase::kInput);
  timer_.copy(*stream_, memory->as<float>().subspan(0, 1024),
              Span<const float>(memory->as<float>().subspan(1024, 1024)));
  collectives.ready(*stream_, 0);
  collectives.begin(*comm, 0, kib(4));
  collectives.end(*comm, 0, kib(4));
  collectives.back(*stream_, 0);
  timer_.end_step(*stream_);
  stream_->synchronize();
  comm->synchronize();
  const timeline::Process process = recorder_.collect();
  ASSERT_EQ(process.tracks.size(), 2U);
  const Slice& copy = process.tracks[0].slices.back();
  EXPECT_EQ(copy.kind, SliceKind::kCopy);
  EXPECT_EQ(copy.size, kib(4));
  EXPECT_EQ(process.tracks[1].slices.at(0).kind, SliceKind::kCollective);
  EXPECT_TRUE(process.buckets.at(0).ready && process.buckets.at(0).back);
}

TEST_F(TimelineRecorderTest, CopiesInARowAreOne_AndCollectivesOfNoBucketHaveTheirName) {
  const auto memory = device_.allocate(kib(8));
  recorder_.start();
  timer_.begin(*stream_, Phase::kBuffers);
  timer_.copies(*stream_, 2, kib(8), [&] {
    enqueue_zero(*stream_, memory->as<float>());
    stream_->delay(milliseconds(1));
  });
  timer_.collective(*stream_, "broadcast", kib(4), [&] { stream_->delay(milliseconds(1)); });
  timer_.end_step(*stream_);
  stream_->synchronize();
  const timeline::Process process = recorder_.collect();
  const std::vector<Slice>& slices = process.tracks.at(0).slices;
  ASSERT_EQ(slices.size(), 4U);
  EXPECT_EQ(slices[2].copies, 2);
  EXPECT_GE(slices[2].length(), milliseconds(1));
  EXPECT_LE(slices[2].end, slices[3].begin);
  EXPECT_EQ(slices[2].size, kib(8));
  EXPECT_EQ(slices[3].kind, SliceKind::kCollective);
  EXPECT_EQ(slices[3].name, "broadcast");
  EXPECT_EQ(slices[3].index, -1);
  EXPECT_EQ(slices[3].sequence, 0);
  EXPECT_GE(slices[3].length(), milliseconds(1));
}

TEST_F(TimelineRecorderTest, WorkIsWhereItRan_AndWhatIsBetweenIsNot) {
  const std::vector<WorkObserver*> observers = work_observers_of({&recorder_});
  const auto enqueue = [&](const char* name) {
    enqueue_observed(observers, device_, *stream_, {.name = name},
                     [&] { stream_->delay(milliseconds(1)); });
  };
  recorder_.start();
  timer_.begin(*stream_, Phase::kForward);
  enqueue("first");
  enqueue("second");
  stream_->delay(milliseconds(1));
  enqueue("third");
  enqueue_observed(observers, device_, *stream_, {.name = "nothing"}, [] {});
  timer_.end_step(*stream_);
  stream_->synchronize();
  const timeline::Process process = recorder_.collect();
  const std::vector<Slice>& slices = process.tracks.at(0).slices;
  ASSERT_EQ(slices.size(), 6U);
  const Slice &phase = slices[1], &first = slices[2], &second = slices[3], &third = slices[4];
  EXPECT_GE(first.begin, phase.begin);
  for (const Slice* const one : {&first, &second, &third}) {
    EXPECT_GE(one->length(), milliseconds(1));
  }
  EXPECT_GE(second.begin, first.end);
  EXPECT_GE(third.begin - second.end, milliseconds(1));
  EXPECT_EQ(slices[5].begin, third.end);
  EXPECT_EQ(slices[5].length(), Nanoseconds{0});
  EXPECT_LE(third.end, phase.end);
}

// Marks between phases cost the stream nothing.
TEST_F(TimelineRecorderTest, OnlyPhasesAreTasksOfTheirOwn) {
  const std::vector<WorkObserver*> observers = work_observers_of({&recorder_});
  const host::HostStream& stream = host::host_stream(*stream_);
  recorder_.start();
  timer_.begin(*stream_, Phase::kForward);
  const std::uint32_t before = stream.tasks_queued();
  enqueue_observed(observers, device_, *stream_, {.name = "relu"},
                   [&] { stream_->delay(Nanoseconds{1}); });
  EXPECT_EQ(stream.tasks_queued() - before, 1U);
  timer_.end_step(*stream_);
  EXPECT_EQ(stream.tasks_queued() - before, 2U);
}

// Late enqueueing is no part of an operation. Where the worker has not looked for more work when an
// operation arrives, nothing waited for the operation: some four of five operations are awaited on
// an idle machine, and one of twelve was seen on a busy one.
TEST_F(TimelineRecorderTest, WhatTheStreamWaitedForIsBetweenMarks) {
  constexpr int kOperations = 1000;
  constexpr int kLeastAwaited = 25;
  const std::vector<WorkObserver*> observers = work_observers_of({&recorder_});
  recorder_.start();
  timer_.begin(*stream_, Phase::kForward);
  std::vector<Nanoseconds> later;
  for (int i = 0; i < kOperations; ++i) {
    stream_->synchronize();
    later.push_back(Clock::now().time_since_epoch());
    enqueue_observed(observers, device_, *stream_, {.name = "late"},
                     [&] { stream_->delay(Nanoseconds{1}); });
  }
  timer_.end_step(*stream_);
  stream_->synchronize();
  const timeline::Process process = recorder_.collect();
  const std::vector<Slice>& slices = process.tracks.at(0).slices;
  ASSERT_EQ(slices.size(), 2U + kOperations);
  EXPECT_LT(slices[1].begin, later.front());
  int awaited = 0;
  for (std::size_t i = 0; i < later.size(); ++i) awaited += slices[i + 2].begin >= later[i] ? 1 : 0;
  EXPECT_GT(awaited, kLeastAwaited);
}

TEST_F(TimelineRecorderTest, WorkThatFailsToBeEnqueued_HasItsEndAllTheSame) {
  recorder_.start();
  const std::vector<WorkObserver*> observers = work_observers_of({&recorder_});
  timer_.begin(*stream_, Phase::kForward);
  const Error error = error_of([&] {
    enqueue_observed(observers, device_, *stream_, {.name = "relu"},
                     [] { fail(ErrorKind::kFailure, "no room"); });
  });
  EXPECT_STREQ(error.what(), "no room");
  timer_.end_step(*stream_);
  stream_->synchronize();
  EXPECT_EQ(recorder_.collect().tracks.at(0).slices.size(), 3U);
}

TEST_F(TimelineRecorderTest, AbandonedStep_LeavesNothing) {
  recorder_.start();
  timer_.begin(*stream_, Phase::kForward);
  timer_.abandon_step(*stream_);
  step();
  const timeline::Process process = recorder_.collect();
  ASSERT_EQ(process.tracks.size(), 1U);
  EXPECT_EQ(process.tracks[0].slices.size(), 3U);
}

}  // namespace
}  // namespace tandem::test
