// SPDX-License-Identifier: Apache-2.0
//
// Ten steps of ddp with a lossy average, against one device that computes every rank's gradients in
// turn and averages them with the same loss in plain loops.
#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "common/parallel/replica.h"
#include "common/parallel/shards.h"
#include "tests/ddp/compression/naive_half.h"
#include "tests/ddp/compression/naive_power_sgd.h"
#include "tests/support/training.h"

namespace tandem::test {
namespace {

constexpr int kSteps = 10;
constexpr int kStart = 2;  // of PowerSGD
constexpr std::uint64_t kSeed = 5;
constexpr std::int64_t kShare = 8;  // samples per rank

class ReadyOrder final : public GradientSink {
 public:
  void gradient_ready(int segment) override { order.push_back(segment); }
  std::vector<int> order;  // of one backward
};

// Makes the average of one parameter's gradient out of all ranks'.
using Average = std::function<Values(int step, std::size_t segment, const std::vector<Values>&)>;

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
    for (int step = 0; step < kSteps; ++step) {
      std::vector<TensorValues> of_rank;
      for (const auto& batch : batches_) of_rank.push_back(gradients_of(*batch));
      for (std::size_t segment = 0; segment < gradients_.tensors.size(); ++segment) {
        std::vector<Values> of_segment;
        for (const TensorValues& gradients : of_rank) of_segment.push_back(gradients[segment]);
        put(device_, gradients_.tensors[segment], average(step, segment, of_segment));
      }
      optimizer_->step(replica_.operations(), replica_.stream(), replica_.parameters().flat,
                       gradients_.flat);
      replica_.stream().synchronize();
    }
    return values_of(*platform_, replica_.parameters().tensors);
  }

  // In which backward makes gradients.
  [[nodiscard]] std::vector<int> ready_order() {
    static_cast<void>(gradients_of(*batches_.front()));
    return ready_.order;
  }

 private:
  TensorValues gradients_of(LocalBatch& batch) {
    ready_.order.clear();
    batch.load(replica_, interpreter_);
    replica_.forward(batch.inputs(), interpreter_);
    replica_.compute_loss(batch.targets(), loss_->as<float>(), interpreter_);
    replica_.backward(batch.inputs(), gradients_.tensors, ready_);
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
  ReadyOrder ready_;
  Replica replica_{device_, model_, kShare, options_};
};

TensorValues train_ddp(const Model& model, int ranks, const ddp::CompressionOptions& compression,
                       ddp::GradsMode grads) {
  const Training run{.strategy = "ddp",
                     .devices = ranks,
                     .steps = kSteps,
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
    const TensorValues expected =
        NaiveDdp(*model, GetParam()).train([](int, std::size_t, const std::vector<Values>& all) {
          return naive_half_average<T>(all);
        });
    EXPECT_NE(train_ddp(*model, GetParam(), {}, ddp::GradsMode::kCopy),
              expected);  // there is a loss
    for (const ddp::GradsMode grads : {ddp::GradsMode::kCopy, ddp::GradsMode::kViews}) {
      EXPECT_EQ(train_ddp(*model, GetParam(), {.compression = compression}, grads), expected);
    }
  }
};

TEST_P(CompressedTraining, InBFloat16_IsTheNaiveModelsToTheBit) {
  expect_naive_bits<BFloat16>(ddp::Compression::kBFloat16);
}

TEST_P(CompressedTraining, InFloat16_IsTheNaiveModelsToTheBit) {
  expect_naive_bits<Float16>(ddp::Compression::kFloat16);
}

// PowerSGD of the model's matrices, whose Q start from one sequence in the buckets' order.
std::map<std::size_t, NaivePowerSgd> naive_matrices(const Model& model,
                                                    const std::vector<int>& order, int rank,
                                                    int ranks) {
  std::map<std::size_t, NaivePowerSgd> matrices;
  std::uint64_t first_random = 0;
  for (const int segment : order) {
    const auto index = static_cast<std::size_t>(segment);
    const auto& extents = model.layout().segments()[index].shape.dims();
    if (extents.size() != 2) continue;
    const auto rows = static_cast<std::size_t>(extents[0]);
    const auto columns = static_cast<std::size_t>(extents[1]);
    const auto r = static_cast<std::size_t>(rank);
    matrices.emplace(index, NaivePowerSgd(rows, columns, r, ranks, kSeed, first_random));
    first_random += columns * r;
  }
  return matrices;
}

Values plain_average(const std::vector<Values>& of_rank) {
  Values sum = of_rank.front();
  for (std::size_t rank = 1; rank < of_rank.size(); ++rank) {
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += of_rank[rank][i];
  }
  for (float& value : sum) value *= 1 / static_cast<float>(of_rank.size());
  return sum;
}

TEST_P(CompressedTraining, ByPowerSgd_FollowsTheNaiveModel) {
  constexpr int kRank = 2;
  const auto model = exact_model();
  NaiveDdp naive(*model, GetParam());
  auto matrices = naive_matrices(*model, naive.ready_order(), kRank, GetParam());
  ASSERT_EQ(matrices.size(), 3U);
  const TensorValues expected =
      naive.train([&](int step, std::size_t segment, const std::vector<Values>& all) {
        const auto matrix = matrices.find(segment);
        if (step < kStart || matrix == matrices.end()) return plain_average(all);
        const Dense result = matrix->second.step(all);
        return Values(result.values.begin(), result.values.end());
      });
  const ddp::CompressionOptions options{
      .compression = ddp::Compression::kPowerSgd,
      .power_sgd = {.rank = kRank, .start_step = kStart, .seed = kSeed}};
  const TensorValues actual = train_ddp(*model, GetParam(), options, ddp::GradsMode::kViews);
  EXPECT_LT(relative_difference(expected, actual), 1e-5);
  const TensorValues lossless = train_ddp(*model, GetParam(), {}, ddp::GradsMode::kViews);
  EXPECT_GT(relative_difference(lossless, actual), 1e-3);
}

INSTANTIATE_TEST_SUITE_P(Ranks, CompressedTraining, testing::Values(1, 2, 3, 4));

}  // namespace
}  // namespace tandem::test
