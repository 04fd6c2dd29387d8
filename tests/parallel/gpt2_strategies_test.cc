// SPDX-License-Identifier: Apache-2.0
//
// The same mathematics, whatever the strategy, where the objective is cross-entropy, targets are
// fewer than outputs, and a gradient is final only at the end of backward.
#include <gtest/gtest.h>

#include <algorithm>

#include "common/kernels/host_support.h"
#include "common/model/zoo.h"
#include "tests/parallel/corners_of_ddp.h"
#include "tests/support/training.h"

namespace tandem::test {
namespace {

Training gpt2_run(const std::string& strategy, int devices, std::int64_t batch) {
  Training run{.strategy = strategy, .devices = devices, .steps = 3};
  run.training.global_batch = batch;
  run.training.optimizer.sgd.learning_rate = 0.1F;
  run.platform.oversubscribe = true;
  return run;
}

std::unique_ptr<Model> nano() { return make_model("gpt2-nano:6"); }

void expect_as_single(const Outcome& single, const Outcome& other, const std::string& what) {
  EXPECT_LT(relative_difference(single.weights, other.weights), kStrategyTolerance) << what;
  EXPECT_LT(relative_difference(single.gradients, other.gradients), kStrategyTolerance) << what;
}

TEST(Gpt2Strategies, EvenPieces_FollowSingle) {
  const auto model = nano();
  const Outcome single = train(*model, gpt2_run("single", 1, 12));
  for (const std::string strategy : {"dp", "dp-allreduce", "ddp", "ddp-replicate"}) {
    for (const int devices : {1, 2, 3, 4}) {
      expect_as_single(single, train(*model, gpt2_run(strategy, devices, 12)), strategy);
    }
  }
}

TEST(Gpt2Strategies, UnevenPieces_FollowSingle_WhereverTheLossIs) {
  const auto model = nano();
  const Outcome single = train(*model, gpt2_run("single", 1, 10));
  expect_as_single(single, train(*model, gpt2_run("ddp-replicate", 3, 10)), "ddp-replicate");
  for (const auto loss : {dp::LossPlace::kRoot, dp::LossPlace::kReplicas}) {
    for (const int devices : {3, 4}) {
      Training run = gpt2_run("dp", devices, 10);
      run.dp.loss = loss;
      expect_as_single(single, train(*model, run), "dp");
    }
  }
}

// Softmax does not see what is added to all scores of a row alike, so the keys' bias has a gradient
// of nothing but rounding, by which Adam takes steps as long as any other.
void clear_biases_of_keys(const Model& model, TensorValues& values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!model.layout().segments()[i].name.ends_with("attn.c_attn.bias")) continue;
    const auto third = static_cast<std::ptrdiff_t>(values[i].size() / 3);
    std::fill(values[i].begin() + third, values[i].begin() + 2 * third, 0.0F);
  }
}

TEST(Gpt2Strategies, WithAdamAndAdamW_FollowSingle) {
  const auto model = nano();
  for (const OptimizerKind kind : {OptimizerKind::kAdam, OptimizerKind::kAdamW}) {
    const auto weights = [&](const std::string& strategy, int devices) {
      Training run = gpt2_run(strategy, devices, 8);
      run.training.optimizer.kind = kind;
      TensorValues values = train(*model, run).weights;
      clear_biases_of_keys(*model, values);
      return values;
    };
    const TensorValues single = weights("single", 1);
    for (const std::string strategy : {"dp", "dp-allreduce", "ddp", "ddp-replicate"}) {
      EXPECT_LT(relative_difference(single, weights(strategy, 2)), 1e-3) << strategy;
    }
  }
}

TEST(Gpt2Strategies, DpAllReduce_EqualsDdpBitForBit) {
  const auto model = nano();
  for (const ddp::Shards shards : {ddp::Shards::kOwn, ddp::Shards::kScattered}) {
    Training run = gpt2_run("ddp", 2, 8);
    run.reducer = {.buckets = {.first = kib(64), .rest = kib(64)}};
    const Outcome ddp = train(*model, run);
    run.strategy = "dp-allreduce";
    run.shards = shards;
    EXPECT_EQ(train(*model, run), ddp);
  }
}

TEST(Gpt2Strategies, OptionsOfDdp_FollowSingle) {
  const auto model = nano();
  const Outcome single = train(*model, gpt2_run("single", 1, 12));
  const ddp::ReducerOptions buckets{.buckets = {.first = kib(16), .rest = kib(64)}};
  const std::vector<ddp::ReducerOptions> all = corners_of_ddp(buckets, 3);
  for (std::size_t i = 0; i < all.size(); ++i) {
    Training run = gpt2_run("ddp", 2, 12);
    run.reducer = all[i];
    expect_as_single(single, train(*model, run), fmt::format("options {}", i));
  }
}

// As for an MLP (strategies_test.cc), with no ReLU to cut off what rounds to its other side.
TEST(Gpt2Strategies, InBf16_FollowSingle) {
  if (host_bf16_support() == Bf16Support::kNone) {
    GTEST_SKIP() << "the library has no bf16 products for this CPU";
  }
  const auto model = nano();
  const auto outcome = [&](const std::string& strategy, int devices) {
    Training run = gpt2_run(strategy, devices, 8);
    run.training.precision = Precision::kBf16;
    return train(*model, run);
  };
  const Outcome single = outcome("single", 1);
  for (const std::string strategy : {"dp", "dp-allreduce", "ddp", "ddp-replicate"}) {
    const Outcome other = outcome(strategy, 2);
    EXPECT_LT(relative_distance(single.weights, other.weights), 1.0 / 64) << strategy;
    EXPECT_LT(relative_distance(single.gradients, other.gradients), 1.0 / 8) << strategy;
    EXPECT_LT(projection_error(single.gradients, other.gradients), 1.0 / 64) << strategy;
  }
}

}  // namespace
}  // namespace tandem::test
