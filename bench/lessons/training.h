// SPDX-License-Identifier: Apache-2.0
//
// The parts that lessons about numbers share: train with one strategy or another, read back the
// trained values, compare.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/lessons/classroom.h"
#include "common/model/model.h"
#include "common/model/tensor_values.h"
#include "common/parallel/shards.h"
#include "common/parallel/strategy.h"
#include "common/runtime/platform.h"
#include "dp/data_parallel.h"

namespace tandem::bench {

using tandem::relative_difference;

struct Trained {
  TensorValues weights;
  TensorValues gradients;  // gradients of the last step

  bool operator==(const Trained&) const = default;
};

// Sums in another order differ by rounding; a wrong gradient differs by far more.
inline constexpr double kRounding = 1e-4;

// How the model `linear` is trained: SGD at 0.01, without momentum.
[[nodiscard]] TrainingOptions plain_sgd(std::int64_t batch);

[[nodiscard]] Trained train(Platform& platform, Strategy& strategy, int steps);

// Trains on device 0 without any wrapper: on all of the global batch, or on one piece of the batch.
[[nodiscard]] Trained train_single(Platform& platform, const Model& model,
                                   const TrainingOptions& options, int steps);
[[nodiscard]] Trained train_single_on(Platform& platform, const Model& model, Shard shard,
                                      const TrainingOptions& options, int steps);

[[nodiscard]] Trained train_dp(Platform& platform, const Model& model,
                               const TrainingOptions& options, int steps,
                               const dp::DataParallelOptions& how = {});

// A DataParallel on its own devices, of a model of the zoo, that has trained some steps.
struct TrainedDp {
  std::unique_ptr<Platform> platform;
  std::unique_ptr<Model> model;
  std::unique_ptr<dp::DataParallel> strategy;
};
[[nodiscard]] TrainedDp trained_dp(const Classroom& room, int devices, const std::string& model,
                                   const TrainingOptions& options, int steps = 1,
                                   const dp::DataParallelOptions& how = {});

// A replica's contribution to the gradient in the first step: the gradient of the replica's own
// mean loss, times the replica's share of the batch, since the loss is a mean over the whole batch.
[[nodiscard]] TensorValues contribution_of(Platform& platform, const Model& model, Shard shard,
                                           const TrainingOptions& options);

[[nodiscard]] TensorValues sum_of(const std::vector<TensorValues>& all);
[[nodiscard]] TensorValues scaled(TensorValues values, float factor);

// The larger of the differences of weights and of gradients.
[[nodiscard]] double relative_difference(const Trained& a, const Trained& b);

// The mean squared difference of a replica's output from its targets, summed in double.
[[nodiscard]] double mean_squared_error(const std::vector<float>& outputs,
                                        const std::vector<float>& targets);

// Outputs of the latest step, one replica's after the other's.
[[nodiscard]] std::vector<float> outputs_of(Platform& platform, dp::DataParallel& strategy);

// The samples that each replica of a DataParallel got, such as 3, 3, 3, 1.
[[nodiscard]] std::vector<std::int64_t> samples_per_replica(const TrainedDp& dp);

[[nodiscard]] std::string joined(const std::vector<std::int64_t>& numbers);

}  // namespace tandem::bench
