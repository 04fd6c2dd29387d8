// SPDX-License-Identifier: Apache-2.0
//
// ddp with every option that loses nothing is the training that one device does alone.
#include <gtest/gtest.h>

#include "common/model/zoo.h"
#include "tests/support/errors.h"
#include "tests/support/steps_to_make.h"
#include "tests/support/training.h"

namespace tandem::test {
namespace {

constexpr int kSteps = steps_to_make(10);
constexpr std::int64_t kBatch = 24;  // shared by 1, 2, 3 and 4 ranks, each share by 2

// Sums of thirds are not exact, and micro-batches are summed in another order: to rounding only.
Training run_of(const std::string& strategy, int devices) {
  Training run{.strategy = strategy, .devices = devices, .steps = kSteps};
  run.training.global_batch = kBatch;
  run.platform.oversubscribe = true;
  return run;
}

// Small buckets, so that there are several.
ddp::ReducerOptions small_buckets() { return {.buckets = {.first = kib(16), .rest = kib(64)}}; }

std::vector<ddp::ReducerOptions> lossless_options() {
  std::vector<ddp::ReducerOptions> all;
  for (const ddp::GradsMode grads : {ddp::GradsMode::kCopy, ddp::GradsMode::kViews}) {
    for (const ddp::Overlap overlap : {ddp::Overlap::kOn, ddp::Overlap::kOff}) {
      for (const ddp::Graph graph : {ddp::Graph::kDynamic, ddp::Graph::kStatic}) {
        for (const int micro_batches : {1, 2}) {
          ddp::ReducerOptions options = small_buckets();
          options.grads = grads;
          options.overlap = overlap;
          options.graph = graph;
          options.micro_batches = micro_batches;
          all.push_back(options);
        }
      }
    }
  }
  return all;
}

class DdpOptionsTest : public testing::TestWithParam<int> {};

TEST_P(DdpOptionsTest, EveryLosslessOption_FollowsSingleOverTenSteps) {
  for (const char* name : {"mlp-tiny", "counter"}) {
    const auto model = make_model(name);
    const Outcome single = train(*model, run_of("single", 1));
    for (const ddp::ReducerOptions& options : lossless_options()) {
      Training run = run_of("ddp", GetParam());
      run.reducer = options;
      const Outcome ddp = train(*model, run);
      EXPECT_LT(relative_difference(single.weights, ddp.weights), kStrategyTolerance) << name;
      EXPECT_LT(relative_difference(single.gradients, ddp.gradients), kStrategyTolerance) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, DdpOptionsTest, testing::Values(1, 2, 3, 4));

TEST(DdpOptionsTest, MicroBatches_OnSmallIntegers_EqualSingleBitForBit) {
  const auto model = exact_model();
  Training run{.strategy = "single", .devices = 1, .training = exact_training(16)};
  const Outcome single = train(*model, run);
  run.platform.oversubscribe = true;
  for (const char* strategy : {"single", "ddp"}) {
    run.strategy = strategy;
    for (const int micro_batches : {2, 4, 8}) {
      run.reducer.micro_batches = micro_batches;
      EXPECT_EQ(train(*model, run), single) << strategy << ", " << micro_batches;
    }
    run.devices = 2;
  }
}

TEST(DdpOptionsTest, MicroBatchesThatDoNotDivideAShare_AreAUsageError) {
  const auto model = exact_model();
  Training run = run_of("ddp", 2);
  run.reducer.micro_batches = 5;
  const Error error = error_of([&] { static_cast<void>(train(*model, run)); });
  EXPECT_EQ(error.kind(), ErrorKind::kUsage);
  EXPECT_TRUE(mentions(error, "5 micro-batches")) << error.what();
}

TEST(DdpOptionsTest, SeededDelays_ChangeNoNumber_WhateverTheOptions) {
  const auto model = exact_model();
  for (const ddp::ReducerOptions& options : lossless_options()) {
    Training run{.strategy = "ddp", .devices = 2, .steps = 3, .training = exact_training(16)};
    run.platform.oversubscribe = true;
    run.reducer = options;
    const Outcome prompt = train(*model, run);
    run.platform.debug = {.largest_delay = std::chrono::microseconds(300), .delay_seed = 5};
    EXPECT_EQ(train(*model, run), prompt);
  }
}

}  // namespace
}  // namespace tandem::test
