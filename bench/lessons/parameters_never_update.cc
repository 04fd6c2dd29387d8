// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/model/zoo.h"

namespace tandem::bench {
namespace parameters_never_update {

constexpr int kSteps = 50;

Finding run(Classroom& room) {
  const auto platform = room.devices(4);
  const auto model = make_model("linear");
  const TrainingOptions options = plain_sgd(64);
  dp::DataParallel strategy(*platform, *model, options);
  const Values initial = values_of(*platform, strategy.weights());
  static_cast<void>(train(*platform, strategy, 1));
  const float first = strategy.loss();
  const Trained wrapped = train(*platform, strategy, kSteps - 1);
  const Trained single = train_single(*platform, *model, options, kSteps);
  const double difference = relative_difference(single.weights, wrapped.weights);
  const double moved = relative_difference(initial, wrapped.weights);
  return {decide(moved == 0, difference < kRounding && strategy.loss() < first),
          {fmt::format(
               "linear, batch 64, SGD 0.01, 4 devices: loss {:.4f} in step 1, {:.4f} in step {}",
               first, strategy.loss(), kSteps),
           fmt::format("weights after {} steps are those of one device within {:.1e}", kSteps,
                       difference)},
          kAlgorithm};
}

}  // namespace parameters_never_update

const Lesson kParametersNeverUpdate{
    "parameters-never-update",
    "Parameters are not updated when a model is wrapped in DataParallel.",
    parameters_never_update::run,
};

}  // namespace tandem::bench
