// SPDX-License-Identifier: Apache-2.0
//
// ddp with Join against a model of it that knows no collectives: the gradients of the shards
// that have data, each from its own mean loss, summed and divided.
#include "ddp/uneven_inputs.h"

#include <gtest/gtest.h>

#include "common/comm/shared_memory/shared_memory.h"
#include "common/comm/thread_bootstrap.h"
#include "common/model/tensor_values.h"
#include "common/model/zoo.h"
#include "common/parallel/shards.h"
#include "ddp/distributed_data_parallel.h"
#include "tests/support/host_devices.h"

namespace tandem::test {
namespace {

constexpr double kTolerance = 2e-5;

// What one rank has in each of its steps, and for how many.
struct Share {
  Shard shard;
  int steps = 0;
};

class NaiveJoin {
 public:
  NaiveJoin(const Model& model, const std::vector<Share>& shares, ddp::Join join)
      : model_(model), shares_(shares), join_(join) {
    replica_.initialise(options_.seed, options_.distribution);
    replica_.stream().synchronize();  // others read the weights
  }

  TensorValues weights_after_all_steps() {
    int most = 0;
    for (const Share& share : shares_) most = std::max(most, share.steps);
    for (int step = 0; step < most; ++step) train(step);
    return values_of(*platform_, replica_.parameters().tensors);
  }

 private:
  std::vector<float> gradient_of(const Shard& shard) {
    LocalBatch batch(*platform_, device_, model_, shard, options_);
    Replica own(device_, model_, shard.count, {});
    put(device_, own.parameters().flat, read_back<float>(device_, replica_.parameters().flat));
    Interpreter interpreter{DispatchCosts{}};
    IgnoreGradients nobody;
    batch.load(own, interpreter);
    own.forward(batch.inputs(), interpreter);
    own.compute_loss(batch.targets(), loss_->as<float>(), interpreter);
    own.backward(batch.inputs(), gradients_.tensors, nobody);
    own.stream().synchronize();
    return read_back<float>(device_, gradients_.flat);
  }

  void train(int step) {
    std::vector<float> sum(static_cast<std::size_t>(gradients_.flat.size()));
    int active = 0;
    for (const Share& share : shares_) {
      if (share.shard.count == 0 || step >= share.steps) continue;
      ++active;
      const std::vector<float> gradient = gradient_of(share.shard);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += gradient[i];
    }
    const auto ranks = join_ == ddp::Join::kActive ? active : static_cast<int>(shares_.size());
    for (float& value : sum) value /= static_cast<float>(ranks);
    put(device_, gradients_.flat, sum);
    optimizer_->step(replica_.operations(), replica_.stream(), replica_.parameters().flat,
                     gradients_.flat);
    replica_.stream().synchronize();
  }

  const Model& model_;
  const std::vector<Share> shares_;
  const ddp::Join join_;
  const TrainingOptions options_{};
  const std::unique_ptr<Platform> platform_ = host_devices(1);
  Device& device_ = platform_->device(0);
  const std::unique_ptr<Buffer> loss_ = device_.allocate(bytes_of<float>(1));
  const Arena gradients_ = make_arena(device_, model_.layout());
  const std::unique_ptr<Optimizer> optimizer_ =
      make_optimizer(device_, model_.layout().arena_count(), {});
  Replica replica_{device_, model_, 1, {}};
};

ddp::ReducerOptions options_of(ddp::Join join, ddp::GradsMode grads) {
  return {.grads = grads, .buckets = {.first = kib(64), .rest = kib(64)}, .join = join};
}

// Every rank's weights after it has taken its steps and shadowed the others' until all are done.
std::vector<TensorValues> train_ranks(const Model& model, std::int64_t batch,
                                      const std::vector<int>& steps,
                                      const ddp::ReducerOptions& options) {
  const int ranks = static_cast<int>(steps.size());
  const auto platform = host_devices(ranks);
  std::vector<TensorValues> weights(steps.size());
  run_ranks_as_threads(ranks, [&](Bootstrap& bootstrap) {
    const auto rank = static_cast<std::size_t>(bootstrap.rank());
    Device& device = platform->device(bootstrap.rank());
    const auto communicator = make_shared_memory_communicator(bootstrap, device);
    ddp::DistributedDataParallel ddp(*platform, device, model, {*communicator},
                                     {.global_batch = batch}, options);
    for (int step = 0; step < steps[rank]; ++step) ddp.step();
    while (ddp.step_without_data()) {
    }
    ddp.synchronize();
    weights[rank] = values_of(*platform, ddp.weights());
  });
  return weights;
}

struct UnevenCase {
  ddp::Join join;
  const char* model;
};

class UnevenInputsTest : public testing::TestWithParam<UnevenCase> {};

TEST_P(UnevenInputsTest, RanksThatRunOut_LeaveTheOthersTheNaiveAverage_AndEndWithTheirState) {
  const auto model = make_model(GetParam().model);
  const std::vector<int> steps{2, 5, 3};
  std::vector<Share> shares;
  for (int rank = 0; rank < 3; ++rank) {
    shares.push_back({share_of_batch(12, rank, 3), steps[static_cast<std::size_t>(rank)]});
  }
  const TensorValues expected =
      NaiveJoin(*model, shares, GetParam().join).weights_after_all_steps();
  for (const ddp::GradsMode grads : {ddp::GradsMode::kCopy, ddp::GradsMode::kViews}) {
    const auto weights = train_ranks(*model, 12, steps, options_of(GetParam().join, grads));
    for (const TensorValues& rank : weights) EXPECT_EQ(rank, weights.front());
    EXPECT_LT(relative_difference(expected, weights.front()), kTolerance);
  }
}

// 9 samples on 4 ranks: shards of 3, and a rank that never has any.
TEST_P(UnevenInputsTest, RankWithoutAnySample_ShadowsEveryStep) {
  const auto model = make_model(GetParam().model);
  std::vector<Share> shares;
  for (int rank = 0; rank < 4; ++rank) shares.push_back({uneven_share_of_batch(9, rank, 4), 3});
  ASSERT_EQ(shares.back().shard.count, 0);
  const TensorValues expected =
      NaiveJoin(*model, shares, GetParam().join).weights_after_all_steps();
  const auto weights =
      train_ranks(*model, 9, {3, 3, 3, 3}, options_of(GetParam().join, ddp::GradsMode::kCopy));
  for (const TensorValues& rank : weights) EXPECT_EQ(rank, weights.front());
  EXPECT_LT(relative_difference(expected, weights.front()), kTolerance);
}

class UnevenBuffersTest : public testing::TestWithParam<ddp::Join> {};

TEST_P(UnevenBuffersTest, RankZeroThatRunsOutFirst_StopsNobody) {
  const auto model = make_model("counter");
  const auto weights =
      train_ranks(*model, 8, {0, 4}, options_of(GetParam(), ddp::GradsMode::kCopy));
  EXPECT_EQ(weights[0], weights[1]);
}

INSTANTIATE_TEST_SUITE_P(Divisors, UnevenInputsTest,
                         testing::Values(UnevenCase{ddp::Join::kWorld, "mlp-tiny"},
                                         UnevenCase{ddp::Join::kActive, "mlp-tiny"},
                                         UnevenCase{ddp::Join::kWorld, "gpt2-nano:4"},
                                         UnevenCase{ddp::Join::kActive, "gpt2-nano:4"}));

INSTANTIATE_TEST_SUITE_P(Divisors, UnevenBuffersTest,
                         testing::Values(ddp::Join::kWorld, ddp::Join::kActive));

}  // namespace
}  // namespace tandem::test
