// SPDX-License-Identifier: Apache-2.0
//
// Ranks as threads, so that ThreadSanitizer sees all of them.
#include "ddp/distributed_data_parallel.h"

#include <gtest/gtest.h>

#include "common/comm/shared_memory/shared_memory.h"
#include "common/comm/thread_bootstrap.h"
#include "common/model/zoo.h"
#include "tests/support/errors.h"
#include "tests/support/failing_model.h"
#include "tests/support/host_devices.h"
#include "tests/support/training.h"

namespace tandem::test {
namespace {

using std::chrono::seconds;

constexpr int kRanks = 3;

using Body = std::function<void(ddp::DistributedDataParallel&, int rank)>;

// A rank's whole life, ended as a program ends it: whoever fails informs the others.
void live(Bootstrap& bootstrap, Platform& platform, const Model& model, const Body& body) {
  Device& device = platform.device(bootstrap.rank());
  const auto communicator = make_shared_memory_communicator(bootstrap, device);
  ddp::DistributedDataParallel strategy(platform, device, model, {*communicator},
                                        exact_training(12), {});
  const auto error = capture_error([&] { body(strategy, bootstrap.rank()); });
  if (!error) return;
  communicator->abort();
  throw Error(*error);
}

void on_ranks(const Model& model, const Body& body) {
  const auto platform = host_devices(kRanks);
  run_ranks_as_threads(kRanks,
                       [&](Bootstrap& bootstrap) { live(bootstrap, *platform, model, body); });
}

void train_on(ddp::DistributedDataParallel& strategy) {
  for (int step = 0; step < 4; ++step) strategy.step();
  strategy.synchronize();
}

class DistributedFaultTest : public testing::TestWithParam<int> {};

TEST_P(DistributedFaultTest, FailingWorkOnOneRank_EndsAllLongBeforeTheDeadline) {
  const FailingModel model(GetParam(), 2, FailingModel::Where::kQueuedWork);
  const TimePoint start = Clock::now();
  const Error error =
      error_of([&] { on_ranks(model, [](auto& strategy, int) { train_on(strategy); }); });
  EXPECT_EQ(error.what(), FailingModel::message(GetParam()));
  EXPECT_LT(Clock::now() - start, seconds(20));
}

TEST_P(DistributedFaultTest, FailingCallOnOneRank_EndsAllLongBeforeTheDeadline) {
  const FailingModel model(GetParam(), 3, FailingModel::Where::kCall);
  const TimePoint start = Clock::now();
  const Error error =
      error_of([&] { on_ranks(model, [](auto& strategy, int) { train_on(strategy); }); });
  EXPECT_EQ(error.what(), FailingModel::message(GetParam()));
  EXPECT_LT(Clock::now() - start, seconds(20));
}

INSTANTIATE_TEST_SUITE_P(Ranks, DistributedFaultTest, testing::Range(0, kRanks));

TEST(DistributedDataParallelTest, DestroyedWithoutSynchronize_EndsItsWorkFirst) {
  const auto model = exact_model();
  on_ranks(*model, [](auto& strategy, int) {
    for (int step = 0; step < 3; ++step) strategy.step();
  });
}

TEST(DistributedDataParallelTest, Phases_PartitionEveryRanksSteps) {
  const auto model = exact_model();
  on_ranks(*model, [](auto& strategy, int rank) {
    train_on(strategy);
    const std::vector<DeviceTimes> times = strategy.collect_phases();
    ASSERT_EQ(times.size(), 1U);
    EXPECT_EQ(times.front().device, rank);
    EXPECT_EQ(times.front().times.steps, 4);
    for (const Phase phase : {Phase::kForward, Phase::kBackward, Phase::kBucketCopy,
                              Phase::kExposedComm, Phase::kUpdate}) {
      EXPECT_GT(times.front().times.of(phase).count(), 0) << name_of(phase);
    }
    EXPECT_EQ(times.front().times.of(Phase::kReplicate).count(), 0);
  });
}

// mlp-small's backward makes 40 KiB, 4 MiB, 2 MiB of weights, each after its small bias: the second
// takes the first bucket over 1 MiB, the third is what is left.
TEST(DistributedDataParallelTest, Buckets_FollowTorchsDefaultLimitsOnceRebuilt) {
  const auto model = make_model("mlp-small");
  on_ranks(*model, [&](auto& strategy, int) {
    EXPECT_EQ(strategy.bucket_sizes().size(), 1U);
    strategy.step();
    strategy.step();
    strategy.synchronize();
    Bytes sum;
    for (const Bytes size : strategy.bucket_sizes()) sum += size;
    EXPECT_EQ(sum.value, 4 * model->layout().parameter_count());
    ASSERT_EQ(strategy.bucket_sizes().size(), 2U);
    EXPECT_EQ(strategy.bucket_sizes().front().value, 4 * (10 + 10 * 1024 + 1024 + 1024 * 1024));
  });
}

}  // namespace
}  // namespace tandem::test
