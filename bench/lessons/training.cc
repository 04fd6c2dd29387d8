// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/training.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "common/model/zoo.h"
#include "common/parallel/single.h"
#include "common/runtime/copy.h"

namespace tandem::bench {

TrainingOptions plain_sgd(std::int64_t batch) {
  TrainingOptions options{.global_batch = batch};
  options.optimizer.sgd = {.learning_rate = 0.01F, .momentum = 0};
  return options;
}

Trained train(Platform& platform, Strategy& strategy, int steps) {
  for (int step = 0; step < steps; ++step) strategy.step();
  strategy.synchronize();
  return {values_of(platform, strategy.weights()), values_of(platform, strategy.gradients())};
}

Trained train_single_on(Platform& platform, const Model& model, Shard shard,
                        const TrainingOptions& options, int steps) {
  Single strategy(platform, platform.device(0), model, shard, options);
  return train(platform, strategy, steps);
}

Trained train_single(Platform& platform, const Model& model, const TrainingOptions& options,
                     int steps) {
  return train_single_on(platform, model, {0, options.global_batch}, options, steps);
}

Trained train_dp(Platform& platform, const Model& model, const TrainingOptions& options, int steps,
                 const dp::DataParallelOptions& how) {
  dp::DataParallel strategy(platform, model, options, how);
  return train(platform, strategy, steps);
}

TrainedDp trained_dp(const Classroom& room, int devices, const std::string& model,
                     const TrainingOptions& options, int steps,
                     const dp::DataParallelOptions& how) {
  TrainedDp trained{.platform = room.devices(devices), .model = make_model(model), .strategy = {}};
  trained.strategy =
      std::make_unique<dp::DataParallel>(*trained.platform, *trained.model, options, how);
  static_cast<void>(train(*trained.platform, *trained.strategy, steps));
  return trained;
}

TensorValues contribution_of(Platform& platform, const Model& model, Shard shard,
                             const TrainingOptions& options) {
  const auto share = static_cast<float>(shard.count) / static_cast<float>(options.global_batch);
  return scaled(train_single_on(platform, model, shard, options, 1).gradients, share);
}

TensorValues sum_of(const std::vector<TensorValues>& all) {
  TensorValues sum = all.front();
  for (std::size_t i = 1; i < all.size(); ++i) {
    for (std::size_t t = 0; t < sum.size(); ++t) {
      for (std::size_t e = 0; e < sum[t].size(); ++e) sum[t][e] += all[i][t][e];
    }
  }
  return sum;
}

TensorValues scaled(TensorValues values, float factor) {
  for (auto& tensor : values) {
    for (float& value : tensor) value *= factor;
  }
  return values;
}

double relative_difference(const Trained& a, const Trained& b) {
  return std::max(tandem::relative_difference(a.weights, b.weights),
                  tandem::relative_difference(a.gradients, b.gradients));
}

double mean_squared_error(const std::vector<float>& outputs, const std::vector<float>& targets) {
  TANDEM_CHECK(outputs.size() == targets.size(), "{} outputs, {} targets", outputs.size(),
               targets.size());
  double sum = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const double difference = static_cast<double>(outputs[i]) - targets[i];
    sum += difference * difference;
  }
  return sum / static_cast<double>(outputs.size());
}

std::vector<float> outputs_of(Platform& platform, dp::DataParallel& strategy) {
  std::vector<float> all;
  for (int i = 0; i < strategy.devices_used(); ++i) {
    const auto outputs = values_of(platform, Span<const float>(strategy.replica(i).output()));
    all.insert(all.end(), outputs.begin(), outputs.end());
  }
  return all;
}

std::vector<std::int64_t> samples_per_replica(const TrainedDp& dp) {
  std::vector<std::int64_t> samples;
  for (int i = 0; i < dp.strategy->devices_used(); ++i) {
    samples.push_back(dp.strategy->replica(i).output().size() / dp.model->output_width());
  }
  return samples;
}

std::string joined(const std::vector<std::int64_t>& numbers) {
  return fmt::format("{}", fmt::join(numbers, ", "));
}

}  // namespace tandem::bench
