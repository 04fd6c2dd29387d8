// SPDX-License-Identifier: Apache-2.0
//
// Trains a small model with any strategy for some steps and returns what it came to, so that tests
// compare strategies with one another.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/model/model.h"
#include "common/model/tensor_values.h"
#include "common/parallel/strategy.h"
#include "common/runtime/platform.h"
#include "ddp/bucket_reducer.h"
#include "ddp/dp_all_reduce.h"
#include "dp/options.h"

namespace tandem::test {

struct Training {
  // single, independent, dp, dp-allreduce; with ranks as threads: ddp, ddp-replicate
  std::string strategy;
  int devices = 1;
  int steps = 1;
  TrainingOptions training{};
  ddp::ReducerOptions reducer{};
  dp::DataParallelOptions dp{};
  ddp::Shards shards = ddp::Shards::kOwn;
  PlatformOptions platform{};  // `devices` is taken from above
  // Where set, called by each rank: before its first step, and once each step is done.
  std::function<void(Platform&)> before_steps{};
  std::function<void(Platform&, int step)> after_step{};
  Backend backend = Backend::kHost;
};

// Values per parameter. Of ddp, rank 0's, after a check that all ranks have the same bits; of
// ddp-replicate, rank 0's alone.
struct Outcome {
  TensorValues weights;
  TensorValues gradients;  // of the last step

  bool operator==(const Outcome&) const = default;
};

// Two strategies that add in different orders come this near to each other, relative to the largest
// value of a tensor.
inline constexpr double kStrategyTolerance = 2e-5;

[[nodiscard]] Outcome train(const Model& model, const Training& run);

// 8-16-16-8: with small integers every product and sum of a step is exact.
[[nodiscard]] std::unique_ptr<Model> exact_model();

// Small integers as data and weights.
[[nodiscard]] TrainingOptions exact_training(std::int64_t batch);

}  // namespace tandem::test
