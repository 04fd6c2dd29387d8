// SPDX-License-Identifier: Apache-2.0
//
// The same mathematics, whatever the strategy, of a model that is replayed from a workload file.
#include <gtest/gtest.h>

#include "common/kernels/host_support.h"
#include "common/model/replay.h"
#include "tests/support/training.h"
#include "tests/support/workloads.h"

namespace tandem::test {
namespace {

const std::vector<const char*> kFiles{"by-flops", "tokens"};

Training replay_run(const std::string& strategy, int devices, std::int64_t batch, int steps) {
  Training run{.strategy = strategy, .devices = devices, .steps = steps};
  run.training.global_batch = batch;
  run.platform.oversubscribe = true;
  return run;
}

TEST(ReplayStrategiesTest, EveryStrategy_FollowsSingle) {
  for (const char* file : kFiles) {
    const Replay replay(workload(file));
    const Outcome single = train(replay, replay_run("single", 1, 12, 5));
    for (const char* strategy : {"dp", "dp-allreduce", "ddp", "ddp-replicate"}) {
      for (const int devices : {2, 3}) {
        const Outcome other = train(replay, replay_run(strategy, devices, 12, 5));
        EXPECT_LT(relative_difference(single.weights, other.weights), kStrategyTolerance)
            << file << ' ' << strategy << " on " << devices;
        EXPECT_LT(relative_difference(single.gradients, other.gradients), kStrategyTolerance)
            << file << ' ' << strategy << " on " << devices;
      }
    }
  }
}

TEST(ReplayStrategiesTest, DpAllReduce_EqualsDdpBitForBit) {
  for (const char* file : kFiles) {
    const Replay replay(workload(file));
    EXPECT_EQ(train(replay, replay_run("dp-allreduce", 2, 8, 6)),
              train(replay, replay_run("ddp", 2, 8, 6)));
  }
}

// Small whole numbers times powers of two, few enough that each sum is exact.
TEST(ReplayStrategiesTest, FirstGradients_EqualSinglesBitForBit_OnSmallIntegers) {
  Workload small = workload("by-flops");
  small.input_width = 2;
  small.output_width = 2;
  small.objective.target_width = 2;
  for (WorkloadTensor& tensor : small.tensors) tensor.shape = Shape({4});
  const Replay replay(small);
  Training run = replay_run("single", 1, 4, 1);
  run.training = exact_training(4);
  const Outcome single = train(replay, run);
  run.devices = 2;
  for (const char* strategy : {"dp", "dp-allreduce", "ddp", "ddp-replicate"}) {
    run.strategy = strategy;
    EXPECT_EQ(train(replay, run), single) << strategy;
  }
}

TEST(ReplayStrategiesTest, Bf16_FollowsSingle) {
  if (host_bf16_support() == Bf16Support::kNone) GTEST_SKIP() << "no bf16 products on this CPU";
  const Replay replay(workload("by-flops"));
  Training run = replay_run("single", 1, 8, 3);
  run.training.precision = Precision::kBf16;
  const Outcome single = train(replay, run);
  run.strategy = "dp";
  run.devices = 2;
  EXPECT_LT(relative_difference(single.weights, train(replay, run).weights), kStrategyTolerance);
}

}  // namespace
}  // namespace tandem::test
