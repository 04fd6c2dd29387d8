// SPDX-License-Identifier: Apache-2.0
//
// Ten steps of ddp with a lossy average, against one device that computes every rank's gradients in
// turn and averages them with the same loss in plain loops.
#include <gtest/gtest.h>

#include <functional>

#include "common/parallel/replica.h"
#include "common/parallel/shards.h"
#include "tests/ddp/compression/hook_run.h"
#include "tests/ddp/compression/naive_half.h"
#include "tests/support/training.h"

namespace tandem::test {
namespace {

constexpr int kTrainedSteps = 10;
constexpr std::int64_t kShare = 8;  // samples per rank

// Makes the average of one parameter's gradient out of all ranks'.
using Average = std::function<Values(const std::vector<Values>&)>;

class NaiveDdp {
 public:
  NaiveDdp(const Model& model, int ranks)
      : model_(model), options_{.global_batch = ranks * kShare} {
    for (int rank = 0; rank < ranks; ++rank) {
      batches_.push_back(std::make_unique<LocalBatch>(*platform_, device_, model,
                                                      Shard{rank * kShare, kShare}, options_));
    }
    replica_.initialise(options_.seed, options_.distribution);
  }

  // By segment.
  [[nodiscard]] TensorValues train(const Average& average) {
    for (int step = 0; step < kTrainedSteps; ++step) {
      std::vector<TensorValues> of_rank;
      for (const auto& batch : batches_) of_rank.push_back(gradients_of(*batch));
      for (std::size_t segment = 0; segment < gradients_.tensors.size(); ++segment) {
        std::vector<Values> of_segment;
        for (const TensorValues& gradients : of_rank) of_segment.push_back(gradients[segment]);
        put(device_, gradients_.tensors[segment], average(of_segment));
      }
      optimizer_->step(replica_.operations(), replica_.stream(), replica_.parameters().flat,
                       gradients_.flat);
      replica_.stream().synchronize();
    }
    return values_of(*platform_, replica_.parameters().tensors);
  }

 private:
  TensorValues gradients_of(LocalBatch& batch) {
    batch.load(replica_, interpreter_);
    replica_.forward(batch.inputs(), interpreter_);
    replica_.compute_loss(batch.targets(), loss_->as<float>(), interpreter_);
    replica_.backward(batch.inputs(), gradients_.tensors, nobody_);
    replica_.stream().synchronize();
    return values_of(*platform_, gradients_.tensors);
  }

  const Model& model_;
  const TrainingOptions options_;
  const std::unique_ptr<Platform> platform_ = host_devices(1);
  Device& device_ = platform_->device(0);
  Interpreter interpreter_{DispatchCosts{}};
  std::vector<std::unique_ptr<LocalBatch>> batches_;
  const std::unique_ptr<Buffer> loss_ = device_.allocate(bytes_of<float>(1));
  const Arena gradients_ = make_arena(device_, model_.layout());
  const std::unique_ptr<Optimizer> optimizer_ =
      make_optimizer(device_, model_.layout().arena_count(), options_.optimizer);
  IgnoreGradients nobody_;
  Replica replica_{device_, model_, kShare, options_};
};

TensorValues train_ddp(const Model& model, int ranks, ddp::Compression compression,
                       ddp::GradsMode grads) {
  const Training run{.strategy = "ddp",
                     .devices = ranks,
                     .steps = kTrainedSteps,
                     .training = {.global_batch = ranks * kShare},
                     .reducer = {.grads = grads, .compression = compression},
                     .platform = {.oversubscribe = true}};
  return train(model, run).weights;
}

class CompressedTraining : public testing::TestWithParam<int> {
 protected:
  template <class T>
  void expect_naive_bits(ddp::Compression compression) {
    const auto model = exact_model();
    const TensorValues expected = NaiveDdp(*model, GetParam()).train(naive_half_average<T>);
    EXPECT_NE(train_ddp(*model, GetParam(), ddp::Compression::kNone, ddp::GradsMode::kCopy),
              expected);  // there is a loss
    for (const ddp::GradsMode grads : {ddp::GradsMode::kCopy, ddp::GradsMode::kViews}) {
      EXPECT_EQ(train_ddp(*model, GetParam(), compression, grads), expected);
    }
  }
};

TEST_P(CompressedTraining, InBFloat16_IsTheNaiveModelsToTheBit) {
  expect_naive_bits<BFloat16>(ddp::Compression::kBFloat16);
}

TEST_P(CompressedTraining, InFloat16_IsTheNaiveModelsToTheBit) {
  expect_naive_bits<Float16>(ddp::Compression::kFloat16);
}

INSTANTIATE_TEST_SUITE_P(Ranks, CompressedTraining, testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace tandem::test
