// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/training.h"

#include <fmt/ranges.h>

#include "common/base/error.h"
#include "common/model/zoo.h"
#include "common/parallel/single.h"

namespace tandem::bench {

Trained train(Platform& platform, Strategy& strategy, int steps) {
  for (int step = 0; step < steps; ++step) strategy.step();
  strategy.synchronize();
  return {values_of(platform, strategy.weights()), values_of(platform, strategy.gradients())};
}

Trained train_single(Platform& platform, const Model& model, const TrainingOptions& options,
                     int steps) {
  Single strategy(platform, platform.device(0), model, {0, options.global_batch}, options);
  return train(platform, strategy, steps);
}

Trained train_dp(Platform& platform, const Model& model, const TrainingOptions& options, int steps,
                 const dp::DataParallelOptions& how) {
  dp::DataParallel strategy(platform, model, options, how);
  return train(platform, strategy, steps);
}

TrainingOptions plain_sgd(std::int64_t batch) {
  TrainingOptions options{.global_batch = batch};
  options.optimizer.sgd = {.learning_rate = 0.01F, .momentum = 0};
  return options;
}

TrainedDp::TrainedDp(const Classroom& room, int devices, const char* name,
                     const TrainingOptions& options, int steps, const dp::DataParallelOptions& how)
    : platform(room.devices(devices)),
      model(make_model(name)),
      strategy(*platform, *model, options, how) {
  static_cast<void>(train(*platform, strategy, steps));
}

std::vector<std::int64_t> TrainedDp::samples() {
  std::vector<std::int64_t> samples;
  for (int i = 0; i < strategy.devices_used(); ++i) {
    samples.push_back(strategy.replica(i).output().size() / model->output_width());
  }
  return samples;
}

bool trains_as_one(Classroom& room, const Case& each, std::vector<std::string>& evidence) {
  const auto platform = room.devices(each.devices);
  const auto model = make_model(each.model);
  TrainingOptions options{.global_batch = each.batch};
  options.optimizer.kind = each.optimizer;
  for (const std::int64_t length : each.lengths) options.input_lengths.push_back(10 * length);
  double difference = 0;
  const auto error = capture_error([&] {
    difference =
        relative_difference(train_single(*platform, *model, options).gradients,
                            train_dp(*platform, *model, options, kSteps, each.how).gradients);
  });
  const std::string lengths =
      each.lengths.empty() ? "" : fmt::format(" of lengths {}", fmt::join(each.lengths, ", "));
  evidence.push_back(
      fmt::format("{}, batch {}{} on {} devices: {}", each.model, each.batch, lengths, each.devices,
                  error ? error->what()
                        : fmt::format("gradients of step {} as on one device within {:.1e}", kSteps,
                                      difference)));
  return !error && difference < kRounding;
}

}  // namespace tandem::bench
