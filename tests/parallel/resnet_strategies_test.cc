// SPDX-License-Identifier: Apache-2.0
//
// The same mathematics, whatever the strategy, where batch normalisation makes samples depend on
// one another: each shard is normalised on its own, so that the reference is one device that takes
// the shards in turn. Of the running statistics the first shard's are kept.
#include <gtest/gtest.h>

#include "common/comm/shared_memory/shared_memory.h"
#include "common/comm/thread_bootstrap.h"
#include "common/kernels/host_support.h"
#include "common/model/zoo.h"
#include "common/parallel/shard_by_shard.h"
#include "common/parallel/shards.h"
#include "common/runtime/copy.h"
#include "ddp/distributed_data_parallel.h"
#include "dp/data_parallel.h"
#include "tests/parallel/corners_of_ddp.h"
#include "tests/support/host_devices.h"
#include "tests/support/steps_to_make.h"
#include "tests/support/training.h"

namespace tandem::test {
namespace {

std::unique_ptr<Model> tiny() { return make_model("resnet-tiny"); }

Training resnet_run(const std::string& strategy, int devices, std::int64_t batch, int steps = 1) {
  Training run{.strategy = strategy, .devices = devices, .steps = steps};
  run.training.global_batch = batch;
  run.training.optimizer.sgd.learning_rate = 0.01F;
  run.platform.oversubscribe = true;
  return run;
}

std::vector<float> flat_of(Device& device, const TensorList& buffers) {
  std::vector<float> flat;
  for (const Span<const float> buffer : buffers) {
    const std::vector<float> values = read_back<float>(device, buffer);
    flat.insert(flat.end(), values.begin(), values.end());
    flat.resize(static_cast<std::size_t>(aligned_count(std::ssize(flat))));
  }
  return flat;
}

// One device that has taken a shard per device of the run in turn.
struct Reference {
  Reference(const Model& model, const Training& run)
      : platform(host_devices(1)),
        strategy(*platform, platform->device(0), model,
                 chunk_batch(run.training.global_batch, run.devices), run.training) {
    for (int step = 0; step < run.steps; ++step) strategy.step();
  }

  [[nodiscard]] Outcome outcome() {
    return {values_of(*platform, strategy.weights()), values_of(*platform, strategy.gradients())};
  }
  [[nodiscard]] std::vector<float> buffers() {
    return flat_of(platform->device(0), strategy.module().buffers);
  }

  std::unique_ptr<Platform> platform;
  ShardByShard strategy;
};

void expect_as_reference(const Outcome& reference, const Outcome& other, const std::string& what) {
  EXPECT_LT(relative_difference(reference.weights, other.weights), kStrategyTolerance) << what;
  EXPECT_LT(relative_difference(reference.gradients, other.gradients), kStrategyTolerance) << what;
}

TEST(ResNetStrategies, OnOneDevice_AreSingle) {
  const auto model = tiny();
  const Outcome single = train(*model, resnet_run("single", 1, 4, 3));
  for (const std::string strategy : {"dp", "ddp", "dp-allreduce", "ddp-replicate"}) {
    expect_as_reference(single, train(*model, resnet_run(strategy, 1, 4, 3)), strategy);
  }
}

TEST(ResNetStrategies, Shards_FollowSingleShardByShard) {
  const auto model = tiny();
  for (const int devices : {2, 4}) {
    const Training run = resnet_run("single", devices, 8);
    const Outcome reference = Reference(*model, run).outcome();
    for (const std::string strategy : {"dp", "dp-allreduce", "ddp", "ddp-replicate"}) {
      expect_as_reference(reference, train(*model, resnet_run(strategy, devices, 8)), strategy);
    }
  }
}

// Each step from the weights that the strategy had come to, so that what rounding differs by does
// not grow: the first, the one with buckets made anew, and one after it.
constexpr int kComparedSteps = kIsWatched ? 2 : 3;  // under ThreadSanitizer without that last one
void expect_each_step(Training run, int shards, const std::string& what,
                      double tolerance_of_weights = kStrategyTolerance) {
  const auto model = tiny();
  Training alone = run;
  alone.devices = shards;
  alone.steps = 0;
  Reference reference(*model, alone);
  for (run.steps = 1; run.steps <= kComparedSteps; ++run.steps) {
    const Outcome found = train(*model, run);
    reference.strategy.step();
    const Outcome expected = reference.outcome();
    EXPECT_LT(relative_difference(expected.gradients, found.gradients), kStrategyTolerance)
        << what << ", step " << run.steps;
    EXPECT_LT(relative_difference(expected.weights, found.weights), tolerance_of_weights)
        << what << ", step " << run.steps;
    reference.strategy.load(found.weights);
  }
}

TEST(ResNetStrategies, OptionsOfDdp_FollowSingleShardByShard) {
  const ddp::ReducerOptions buckets{.buckets = {.first = kib(1), .rest = kib(4)}};
  const std::vector<ddp::ReducerOptions> all = corners_of_ddp(buckets, 2);
  for (std::size_t i = 0; i < all.size(); ++i) {
    Training run = resnet_run("ddp", 2, 8);
    run.reducer = all[i];
    // A micro-batch is normalised on its own.
    expect_each_step(run, 2 * all[i].micro_batches, fmt::format("options {}", i));
  }
}

TEST(ResNetStrategies, LossInTheReplicas_FollowsSingleShardByShard) {
  for (const int devices : {2, 3}) {
    Training run = resnet_run("dp", devices, 8);
    run.dp.loss = dp::LossPlace::kReplicas;
    expect_each_step(run, devices, fmt::format("dp on {}", devices));
  }
}

TEST(ResNetStrategies, WithAdamAndAdamW_FollowSingleShardByShard) {
  for (const OptimizerKind kind : {OptimizerKind::kAdam, OptimizerKind::kAdamW}) {
    for (const std::string strategy : {"dp", "dp-allreduce", "ddp", "ddp-replicate"}) {
      Training run = resnet_run(strategy, 2, 8);
      run.training.optimizer.kind = kind;
      expect_each_step(run, 2, strategy, 1e-3);
    }
  }
}

// The whole batch's statistics are others.
TEST(ResNetStrategies, Shards_AreNotTheWholeBatch) {
  const auto model = tiny();
  const Outcome whole = train(*model, resnet_run("single", 1, 8));
  const Outcome shards = train(*model, resnet_run("ddp", 2, 8));
  EXPECT_GT(relative_difference(whole.gradients, shards.gradients), 1e-2);
}

TEST(ResNetStrategies, UnevenShards_FollowSingleShardByShard) {
  const auto model = tiny();
  const Outcome reference = Reference(*model, resnet_run("single", 3, 8)).outcome();
  for (const std::string strategy : {"dp", "ddp-replicate"}) {
    expect_as_reference(reference, train(*model, resnet_run(strategy, 3, 8)), strategy);
  }
}

TEST(ResNetStrategies, DpAllReduce_EqualsDdpBitForBit) {
  const auto model = tiny();
  for (const ddp::Shards shards : {ddp::Shards::kOwn, ddp::Shards::kScattered}) {
    Training run = resnet_run("ddp", 2, 8, 5);
    run.reducer = {.buckets = {.first = kib(1), .rest = kib(4)}};
    const Outcome ddp = train(*model, run);
    run.strategy = "dp-allreduce";
    run.shards = shards;
    EXPECT_EQ(train(*model, run), ddp);
  }
}

TEST(ResNetStrategies, InBf16_FollowSingleShardByShard) {
  if (host_bf16_support() == Bf16Support::kNone) {
    GTEST_SKIP() << "the library has no bf16 convolutions for this CPU";
  }
  const auto model = tiny();
  Training run = resnet_run("single", 2, 8);
  run.training.precision = Precision::kBf16;
  const Outcome reference = Reference(*model, run).outcome();
  for (const std::string strategy : {"dp", "dp-allreduce", "ddp", "ddp-replicate"}) {
    run.strategy = strategy;
    const Outcome other = train(*model, run);
    EXPECT_LT(relative_distance(reference.gradients, other.gradients), 1.0 / 8) << strategy;
    EXPECT_LT(projection_error(reference.gradients, other.gradients), 1.0 / 32) << strategy;
  }
}

void expect_near_all(const std::vector<float>& found, const std::vector<float>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-4) << i;
}

TEST(ResNetStrategies, BuffersOfDp_AreTheFirstReplicas) {
  const auto model = tiny();
  const Training run = resnet_run("dp", 2, 8, 3);
  const auto platform = host_devices(2);
  dp::DataParallel strategy(*platform, *model, run.training);
  for (int step = 0; step < run.steps; ++step) strategy.step();
  strategy.synchronize();
  expect_near_all(flat_of(platform->device(0), strategy.module().buffers),
                  Reference(*model, run).buffers());
}

// Rank 1 has rank 0's as they were before the last forward, advanced by its own shard.
TEST(ResNetStrategies, BuffersOfDdp_AreRankZeros) {
  const auto model = tiny();
  const Training run = resnet_run("ddp", 2, 8, 3);
  const auto platform = host_devices(2);
  std::vector<std::vector<float>> found(2);
  run_ranks_as_threads(2, [&](Bootstrap& bootstrap) {
    const int rank = bootstrap.rank();
    Device& device = platform->device(rank);
    const auto communicator = make_shared_memory_communicator(bootstrap, device);
    ddp::DistributedDataParallel strategy(*platform, device, *model, {*communicator}, run.training,
                                          {});
    for (int step = 0; step < run.steps; ++step) strategy.step();
    strategy.synchronize();
    found[static_cast<std::size_t>(rank)] = flat_of(device, strategy.module().buffers);
  });
  expect_near_all(found[0], Reference(*model, run).buffers());
  EXPECT_NE(found[0], found[1]);
}

}  // namespace
}  // namespace tandem::test
