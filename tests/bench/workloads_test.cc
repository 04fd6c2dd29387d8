// SPDX-License-Identifier: Apache-2.0
#include "tests/support/workloads.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <numeric>
#include <set>

#include "bench/workloads/calibration.h"
#include "bench/workloads/layer_map.h"
#include "bench/workloads/layer_times.h"
#include "bench/workloads/measured_workload.h"
#include "bench/workloads/timed_passes.h"
#include "common/model/workload_file.h"
#include "common/model/zoo.h"
#include "tests/support/errors.h"
#include "tests/support/host_devices.h"

namespace tandem::bench {
namespace {

using test::error_of;
using test::host_devices;

constexpr std::int64_t kBatch = 4;

std::vector<MappedLayer> layers_of(const Model& model) {
  const auto platform = host_devices(1);
  ProbedStep step(*platform, platform->device(0), model, kBatch, Precision::kFp32);
  return map_layers(step);
}

class LayerMap : public testing::TestWithParam<const char*> {};

TEST_P(LayerMap, HasEverySegmentOnce_AndTheModelsFlopsAndCalls) {
  const auto model = make_model(GetParam());
  std::set<int> segments;
  double flops = 0;
  std::int64_t calls = 0;
  for (const MappedLayer& layer : layers_of(*model)) {
    for (const int segment : layer.segments) EXPECT_TRUE(segments.insert(segment).second);
    EXPECT_FALSE(layer.segments.empty());
    EXPECT_GE(layer.operations.backward, 1);
    flops += layer.forward_flops + layer.backward_flops;
    calls += layer.calls;
  }
  EXPECT_EQ(static_cast<int>(segments.size()), model->layout().size());
  EXPECT_DOUBLE_EQ(flops, model->flops_per_sample() * kBatch);
  EXPECT_GE(calls, static_cast<std::int64_t>(layers_of(*model).size()));
}

INSTANTIATE_TEST_SUITE_P(Models, LayerMap,
                         testing::Values("mlp-tiny", "gpt2-nano:4", "resnet-tiny", "padded"));

TEST(LayerMapTest, OfMlp_HasALayerEach_WithItsProducts) {
  const std::vector<MappedLayer> layers = layers_of(*make_model("mlp:3x16"));
  ASSERT_EQ(layers.size(), 3U);
  EXPECT_EQ(layers[0].segments, (std::vector{1, 0})) << "bias first, as backward makes them";
  EXPECT_EQ(layers[0].operations.forward, 1);
  EXPECT_EQ(layers[2].segments, (std::vector{5, 4}));
}

// What calibration times a layer by, and what the layer's numbers are made of.
TEST(LayerMapTest, OfReplay_CountsWhatItSaysItEnqueues) {
  for (const char* file : {"by-flops", "measured"}) {
    const Replay replay(test::workload(file));
    LayerOperations told;
    for (const LayerOperations& layer : replay.operations(kBatch)) {
      told.forward += layer.forward;
      told.backward += layer.backward;
    }
    const auto platform = host_devices(1);
    ProbedStep step(*platform, platform->device(0), replay, kBatch, Precision::kFp32);
    class Counter final : public StepProbe {
     public:
      void begin_forward(Stream& /*stream*/) override { count = &seen.forward; }
      void end_forward(Stream& /*stream*/) override {}
      void begin_backward(Stream& /*stream*/) override { count = &seen.backward; }
      void end_backward(Stream& /*stream*/) override {}
      void before(Stream& /*stream*/, const WatchedOperation& /*op*/) override { ++*count; }
      void gradient_ready(int /*segment*/) override {}
      LayerOperations seen;
      std::int64_t* count = nullptr;
    } first;
    step.run(first);  // makes the patterns too
    Counter later;
    step.run(later);
    EXPECT_EQ(later.seen.forward, told.forward) << file;
    EXPECT_EQ(later.seen.backward, told.backward) << file;
  }
}

TEST(LayerTimesTest, EveryLayer_TakesTime) {
  const auto model = make_model("mlp:3x16");
  const auto platform = host_devices(1);
  ProbedStep step(*platform, platform->device(0), *model, kBatch, Precision::kFp32);
  const std::vector<LayerOperations> operations{{1, 1}, {1, 3}, {1, 3}};
  const auto times = time_layers(platform->device(0), step, operations);
  ASSERT_EQ(times.size(), 3U);
  for (const LayerSeconds& layer : times) {
    EXPECT_GT(layer.forward, 0);
    EXPECT_GT(layer.backward, 0);
  }
}

TEST(MeasuredWorkloadTest, OfAModel_IsAFileThatReadsBack_AndReplaysItsTensors) {
  const auto model = make_model("gpt2-nano:4");
  const auto platform = host_devices(1);
  const Calibration found =
      calibrate(*platform, platform->device(0),
                measure_workload(*platform, platform->device(0), *model, {1, 2}, Precision::kFp32),
                Precision::kFp32);
  EXPECT_TRUE(found.workload.is_calibrated());
  EXPECT_EQ(found.batches.size(), 2U);
  const Replay replay(parse_workload(to_text(found.workload), "written"));
  EXPECT_EQ(replay.layout().size(), model->layout().size());
  for (int i = 0; i < replay.layout().size(); ++i) {
    const auto segment = static_cast<std::size_t>(i);
    EXPECT_EQ(replay.layout().segments()[segment].name, model->layout().segments()[segment].name);
    EXPECT_EQ(replay.layout().segments()[segment].shape, model->layout().segments()[segment].shape);
  }
  EXPECT_EQ(replay.output_width(), model->output_width());
  EXPECT_EQ(replay.module_count(), model->module_count());
  EXPECT_DOUBLE_EQ(replay.flops_per_sample(), model->flops_per_sample());
}

// By hand of tests/workloads/measured.json, at a batch of 4: forward of two layers, of which the
// second has two products, then backward of the second.
TEST(TimedPasses, ProductsTakeTheSecondsOfTheirPass_InTheOrderOfAStep) {
  const MeasuredModel times = times_of_passes(with_a_row_per_sample(test::workload("measured")),
                                              Precision::kFp32, OptimizerOptions{});
  const auto products = times.operations.find("linear_forward 16x16, 3 operands");
  ASSERT_NE(products, times.operations.end());
  ASSERT_EQ(products->second.size(), 3U) << "one size a batch";
  EXPECT_EQ(products->second[1].batch, 4);
  EXPECT_EQ(products->second[1].flops, 2.0 * 4 * 16 * 16);
  EXPECT_EQ(products->second[1].seconds, (std::vector{2e-6, 2e-6, 2e-6, 3e-6, 3e-6, 2e-6}));
  for (const auto& [key, points] : times.operations) {
    if (key == products->first) continue;
    EXPECT_TRUE(key.starts_with("linear_")) << key << ": loss and update are no pass";
    for (const MeasuredPoint& point : points) {
      for (const double seconds : point.seconds) EXPECT_EQ(seconds, 0) << key;
    }
  }
}

TEST(TimedPasses, OfAPassWithoutSeconds_HaveAsManyProductsAsItHasOperations) {
  Workload workload = test::workload("measured");
  workload.layers[1].forward.seconds = {0, 0, 0};
  workload.layers[0].forward.operations = 0;
  const Workload timed = with_a_row_per_sample(workload);
  EXPECT_EQ(timed.layers[1].forward.products->rows, (std::vector<std::int64_t>{2, 8, 32}));
  EXPECT_EQ(timed.layers[0].forward.products->rows, (std::vector<std::int64_t>{1, 4, 16}))
      << "something has to take the pass's seconds";
}

TEST(MeasuredWorkloadTest, Batches_AreTheShares) {
  EXPECT_EQ(batches_to_measure(16), (std::vector<std::int64_t>{2, 4, 8, 16}));
  EXPECT_EQ(batches_to_measure(3), (std::vector<std::int64_t>{1, 3}));
  EXPECT_EQ(batches_to_measure(1), (std::vector<std::int64_t>{1}));
}

}  // namespace
}  // namespace tandem::bench
