// SPDX-License-Identifier: Apache-2.0
#include "common/timeline/trace_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "common/base/error.h"
#include "common/timeline/step_view.h"
#include "tests/timeline/samples.h"

namespace tandem::timeline {
namespace {

using testing::HasSubstr;

constexpr Nanoseconds kSinceBoot = std::chrono::hours(24 * 90) + Nanoseconds{1};

// With times as they come from a machine that has been up for long.
Trace real_trace() {
  Trace trace = two_ranks();
  trace.facts["clock"] = "of the node";
  trace.untraced = UntracedSamples{.samples = 7, .step = Seconds{1e-3}};
  trace.processes[0].tracks[0].slices.back().layer = "layer0";
  align(trace.processes[1], ClockFit({.own = Nanoseconds{0}, .error = Nanoseconds{250}},
                                     {.own = Nanoseconds{1}, .error = Nanoseconds{50}}));
  for (Process& process : trace.processes) {
    for (Track& track : process.tracks) {
      for (Slice& one : track.slices) one.begin += kSinceBoot, one.end += kSinceBoot;
    }
    for (Bucket& bucket : process.buckets) *bucket.ready += kSinceBoot, *bucket.back += kSinceBoot;
  }
  return trace;
}

TEST(TraceJson, IsReadAsItWasWritten_ToTheNanosecond) {
  const Trace trace = real_trace();
  const std::string text = to_json(trace);
  const Trace read = parse_trace(text, "a.json");
  EXPECT_EQ(to_json(read), text);
  ASSERT_EQ(read.processes.size(), 2U);
  const Track& comm = read.processes[0].tracks[1];
  EXPECT_EQ(comm.device, 0);
  EXPECT_EQ(comm.slices[1].begin, kSinceBoot + Nanoseconds{70});
  EXPECT_EQ(comm.slices[1].end, kSinceBoot + Nanoseconds{150});
  EXPECT_EQ(comm.slices[1].arrival->skew, Nanoseconds{30});
  EXPECT_EQ(comm.slices[1].arrival->last_rank, 1);
  EXPECT_EQ(read.processes[1].buckets[1].ready, kSinceBoot + Nanoseconds{100});
  EXPECT_EQ(read.processes[1].clock_error, Nanoseconds{250});
  EXPECT_EQ(read.facts, trace.facts);
  ASSERT_TRUE(read.untraced.has_value());
  EXPECT_EQ(read.untraced->samples, 7);
  EXPECT_EQ(read.untraced->step, Seconds{1e-3});
}

TEST(TraceJson, ArrowsGoFromReadyThroughTheCollective) {
  const std::string text = to_json(two_ranks());
  EXPECT_THAT(text, HasSubstr(R"("ph":"s","name":"bucket","pid":1,"tid":1001,"cat":"bucket",)"
                              R"("id":2,"ts":0.07)"));
  EXPECT_THAT(text, HasSubstr(R"("ph":"t","name":"bucket","pid":1,"tid":1002,)"));
  EXPECT_THAT(text, HasSubstr(R"("id":2,"ts":0.15)"));
}

TEST(TraceJson, WhatAGpuRan_ComesBack) {
  Trace trace = two_ranks();
  trace.processes[0].cuda_times = "cupti";
  trace.processes[0].lost_records = 3;
  trace.processes[1].cuda_times = "events, since there is none";
  Track& track = trace.processes[0].tracks[0];
  track.slices.push_back(slice(SliceKind::kKernel, "gemm", 1, 2));
  const Trace read = parse_trace(to_json(trace), "a.json");
  EXPECT_EQ(read.processes[0].cuda_times, "cupti");
  EXPECT_EQ(read.processes[0].lost_records, 3);
  EXPECT_EQ(read.processes[1].cuda_times, "events, since there is none");
  const auto& slices = read.processes[0].tracks[0].slices;
  const auto found = std::ranges::find(slices, SliceKind::kKernel, &Slice::kind);
  ASSERT_NE(found, slices.end());
  EXPECT_EQ(found->name, "gemm");
}

TEST(TraceJson, WhatIsNoTrace_IsRefusedInALine) {
  const auto said = [](const std::string& text) -> std::string {
    const auto error = capture_error([&] { static_cast<void>(parse_trace(text, "a.json")); });
    EXPECT_TRUE(!error || error->kind() == ErrorKind::kUsage);
    return error ? error->what() : "nothing";
  };
  EXPECT_THAT(said("{"), HasSubstr("a.json"));
  EXPECT_THAT(said("{}"), HasSubstr("a.json: it is JSON, but no trace of step_bench trace"));
  EXPECT_THAT(said(R"({"traceEvents": []})"), HasSubstr("no trace of step_bench trace"));
  std::string newer = to_json(two_ranks());
  newer.replace(newer.find("2.0.0"), 5, "3.0.0");
  EXPECT_THAT(said(newer), HasSubstr("version 3.0.0"));
}

TEST(Merge, LayersHoldConsecutiveOperations) {
  Track track = compute_track(0, 0, {{"forward", 40}});
  std::erase_if(track.slices, [](const Slice& one) { return one.kind == SliceKind::kOperation; });
  const auto operation = [&](const std::string& layer, int begin) {
    Slice made = slice(SliceKind::kOperation, "linear_forward", begin, begin + 9);
    made.layer = layer;
    track.slices.push_back(made);
  };
  operation("0", 0);
  operation("0", 10);
  operation("", 20);
  operation("0", 30);
  add_layers(track);
  std::vector<TimeRange> layers;
  for (const Slice& one : track.slices) {
    if (one.kind == SliceKind::kLayer) layers.push_back({one.begin, one.end});
  }
  EXPECT_EQ(layers, (std::vector<TimeRange>{{Nanoseconds{0}, Nanoseconds{19}},
                                            {Nanoseconds{30}, Nanoseconds{39}}}));
}

}  // namespace
}  // namespace tandem::timeline
