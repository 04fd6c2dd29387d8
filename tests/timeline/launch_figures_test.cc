// SPDX-License-Identifier: Apache-2.0
#include "common/timeline/launch_figures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/timeline/samples.h"

namespace tandem::timeline {
namespace {

using testing::HasSubstr;
using testing::Not;

Seconds seconds_of_ns(int count) { return Seconds(Nanoseconds{count}); }

// two_ranks() with the samples around its step: rank 0's from 2 to 170, rank 1's from 5 to 165.
Trace sampled() {
  Trace trace = two_ranks();
  for (Process& process : trace.processes) {
    const int early = process.rank == 0 ? 0 : 3;
    Track harness{.device = kNoDevice, .name = "harness"};
    harness.slices = {slice(SliceKind::kHarness, "barrier", 0, 1),
                      slice(SliceKind::kHarness, "sample", 2 + early, 170 - 5 * process.rank)};
    for (Slice& one : harness.slices) one.step = 0;
    process.tracks.push_back(harness);
  }
  return trace;
}

// As long as `factor` of it.
Trace stretched(Trace trace, int factor) {
  for (Process& process : trace.processes) {
    for (Track& track : process.tracks) {
      for (Slice& one : track.slices) one.begin *= factor, one.end *= factor;
    }
  }
  return trace;
}

// Its step once more, 200 later, and in the same sample.
Trace with_second_step(Trace trace) {
  for (Process& process : trace.processes) {
    for (Track& track : process.tracks) {
      if (track.device == kNoDevice) {
        track.slices.back().end += Nanoseconds{200};
        continue;
      }
      std::vector<Slice> again = track.slices;
      for (Slice& one : again) {
        one.begin += Nanoseconds{200};
        one.end += Nanoseconds{200};
        one.step = 2;
      }
      track.slices.insert(track.slices.end(), again.begin(), again.end());
    }
  }
  return trace;
}

LaunchFigures figures(const Trace& trace, bool has_root = false) {
  return figures_of(trace, steps_of(trace), has_root);
}

TEST(LaunchFigures, AreTheRecordsOfTheTracedSteps) {
  const LaunchFigures found = figures(sampled());
  EXPECT_EQ(found.samples, 1);
  EXPECT_DOUBLE_EQ(found.step.count(),
                   seconds_of_ns(165).count());  // from the last start to the last end
  EXPECT_DOUBLE_EQ(found.phase("forward").count(), seconds_of_ns(20).count());
  EXPECT_DOUBLE_EQ(found.phase("exposed_comm").count(), seconds_of_ns(80).count());
  EXPECT_DOUBLE_EQ(found.least_exposed.count(), seconds_of_ns(50).count());
  EXPECT_DOUBLE_EQ(found.least_compute.count(), seconds_of_ns(70).count());
  EXPECT_DOUBLE_EQ(found.collectives.count(), seconds_of_ns(20 + 50).count());
  EXPECT_NEAR(found.skew().count(), seconds_of_ns(30).count(), 1e-15);  // rank 1's longer backward
  EXPECT_DOUBLE_EQ(found.hidden_share(), 1 - 50.0 / 70);
}

TEST(LaunchFigures, CriticalIsTheSlowest_OrTheRoot) {
  Trace trace = sampled();
  trace.processes[1].tracks[0].slices[0].end += Nanoseconds{3};  // of the step
  EXPECT_DOUBLE_EQ(figures(trace).phase("exposed_comm").count(), seconds_of_ns(50).count());
  EXPECT_DOUBLE_EQ(figures(trace, true).phase("exposed_comm").count(), seconds_of_ns(80).count());
}

TEST(LaunchFigures, OfSeveralNodesASampleIsTheLongestOwn) {
  Trace trace = sampled();
  trace.processes[1].host = "there";
  EXPECT_DOUBLE_EQ(figures(trace).step.count(), seconds_of_ns(168).count());
}

TEST(LaunchFigures, OfFreeRunningStepsArePerStep) {
  const LaunchFigures found = figures(with_second_step(sampled()));
  EXPECT_EQ(found.samples, 1);
  EXPECT_DOUBLE_EQ(found.step.count(), seconds_of_ns(365).count() / 2);
  EXPECT_DOUBLE_EQ(found.phase("backward").count(), seconds_of_ns(50).count());
  EXPECT_DOUBLE_EQ(found.collectives.count(), seconds_of_ns(70).count());
}

TEST(LaunchFigures, OfATraceWithoutSamplesThereAreNone) {
  const LaunchFigures found = figures(two_ranks());
  EXPECT_EQ(found.samples, 0);
  EXPECT_TRUE(found.phases.empty());
}

TEST(LaunchFigures, WhatTracingChangedIsToldWithItsReason) {
  Trace trace = stretched(sampled(), 10'000);
  trace.untraced = LaunchFigures{.samples = 50,
                                 .step = Seconds{1.6e-3},
                                 .phases = {{"forward", Seconds{150e-6}},
                                            {"backward", Seconds{600e-6}},
                                            {"exposed_comm", Seconds{600e-6}},
                                            {"update", Seconds{95e-6}},
                                            {"launch", Seconds{1e-6}}},
                                 .least_exposed = Seconds{400e-6},
                                 .least_compute = Seconds{650e-6},
                                 .collectives = Seconds{700e-6}};
  EXPECT_EQ(comparison_text(trace), R"(
Beside the launch's 50 untraced samples, by the report's definitions; ms per step:
                    traced   untraced   ratio
  step               1.650      1.600   1.031
  backward           0.500      0.600   0.833
  exposed_comm       0.800      0.600   1.333
  forward            0.200      0.150   1.333
  update             0.100      0.095   1.053
  launch             0.000      0.001   0.000
  collectives        0.700      0.700   1.000
  least exposed      0.500      0.400   1.250
  skew               0.300      0.300   1.000
  hidden            28.6 %     42.9 %
  More than 5 % apart:
  backward          -0.100 ms: no trace makes it shorter *
  exposed_comm      +0.200 ms: waits take up what the trace does elsewhere *
  forward           +0.050 ms: 2 moments of the trace, about a microsecond each; the rest *
  update            +0.005 ms: 2 moments of the trace, about a microsecond each; the rest *
  least exposed     +0.100 ms: waits take up what the trace does elsewhere *
  * the two passes differ, or met the machine in different states: trace more steps, with nothing beside it
)");
  trace.facts["cuda_times"] = "cupti";
  EXPECT_THAT(
      comparison_text(trace),
      HasSubstr("  * CUPTI was attached, which makes each launch slower; or the two passes"));
}

TEST(LaunchFigures, MomentsExplainAsMuchAsTheyCost) {
  Trace trace = stretched(sampled(), 100);
  trace.untraced = figures(trace);
  EXPECT_THAT(comparison_text(trace), HasSubstr("All of 1 % of the step or more are within 5 %."));
  trace.untraced->phases["forward"] -= Seconds{1e-6};  // of 2
  trace.untraced->least_compute -= Seconds{1e-6};
  EXPECT_THAT(
      comparison_text(trace),
      HasSubstr("forward           +0.001 ms: 2 moments of the trace, about a microsecond each\n"));
  EXPECT_THAT(comparison_text(trace), Not(HasSubstr("*")));
}

TEST(LaunchFigures, WithoutMarksThereIsTheStepAlone) {
  Trace trace = sampled();
  trace.untraced = LaunchFigures{.samples = 1, .step = seconds_of_ns(165)};
  EXPECT_THAT(comparison_text(trace), Not(HasSubstr("forward")));
}

TEST(LaunchFigures, IntervalsAreHeldAgainstTheBooks) {
  Trace trace = two_ranks();
  EXPECT_EQ(comparison_text(trace), "");
  for (Process& process : trace.processes) process.tracks[1].slices[1].end = Nanoseconds{110};
  EXPECT_THAT(
      comparison_text(trace),
      HasSubstr("exposed is 0.500 of \"account\" in the table above: the phase exposed_comm also "
                "holds waking up"));
}

}  // namespace
}  // namespace tandem::timeline
