// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "bench/kernels/step_share.h"
#include "common/base/error.h"
#include "common/model/zoo.h"
#include "common/runtime/host/host_platform.h"

namespace tandem::bench {
namespace {

TEST(BareStepTest, LayersAreTheModels) {
  const auto layers = linear_layers(*make_model("mlp-tiny"), 8);
  const std::vector<LinearShape> expected{
      {.batch = 8, .in = 128, .out = 256}, {8, 256, 256}, {8, 256, 10}};
  EXPECT_EQ(layers, expected);
}

TEST(BareStepTest, ModelsOfOtherParts_AreRefused) {
  EXPECT_THROW(static_cast<void>(linear_layers(*make_model("padded"), 8)), Error);
}

// All that a step computes, and nothing else: the numbers that FLOP/s are made of.
TEST(BareStepTest, HasTheModelsFlops) {
  const auto platform = host::make_host_platform({});
  DeviceBench bench(*platform, Precision::kFp32);
  for (const char* name : {"mlp-tiny", "mlp:1x16", "mlp:3x24"}) {
    const auto model = make_model(name);
    BareStep bare(bench, *model, 8);
    EXPECT_DOUBLE_EQ(bare.flops(), 8 * model->flops_per_sample()) << name;
    EXPECT_GT(bench.timed_by_device([&] { bare.enqueue(); }), 0) << name;
  }
}

TEST(StepShareTest, Text_HasBothSharesWithTheirIntervals) {
  const StepShare share{.products = {.center = 0.91, .interval = stats::Interval{0.9, 0.92}},
                        .whole = {.center = 0.6, .interval = {}}};
  EXPECT_EQ(to_text(share),
            "forward and backward at 0.9100 of the FLOP/s of bare products (95 % interval 0.9000 "
            "to 0.9200); the whole step at 0.6000 (too few pairs for an interval)");
}

}  // namespace
}  // namespace tandem::bench
