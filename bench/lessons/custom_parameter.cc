// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/base/error.h"
#include "common/model/zoo.h"

namespace tandem::bench {
namespace custom_parameter {

constexpr int kSteps = 5;

Finding run(Classroom& room) {
  const auto platform = room.devices(4);
  const auto model = make_model("custom");
  TrainingOptions options{.global_batch = 32};
  options.optimizer.kind = OptimizerKind::kAdam;
  double difference = 0;
  const auto error = capture_error([&] {
    difference = relative_difference(train_single(*platform, *model, options, kSteps).gradients,
                                     train_dp(*platform, *model, options, kSteps).gradients);
  });
  return {holds_if(error || difference > kRounding),
          {error ? error->what()
                 : fmt::format("custom, batch 32, Adam, 4 devices: gradients of step {} as on one "
                               "device within {:.1e}",
                               kSteps, difference)},
          kAlgorithm};
}

}  // namespace custom_parameter

const Lesson kCustomParameter{
    "custom-parameter",
    "A layer with a parameter of its own, multiplied by hand, goes wrong under DataParallel.",
    custom_parameter::run,
};

}  // namespace tandem::bench
