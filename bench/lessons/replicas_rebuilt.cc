// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/model/zoo.h"

namespace tandem::bench {
namespace replicas_rebuilt {

constexpr int kSteps = 4;

// Whether replica 1 holds, after a step, the weights that the module had before the step.
bool is_copy_of(Platform& platform, dp::DataParallel& strategy, const Values& weights) {
  return values_of(platform, strategy.replica(1).parameters().tensors) == weights;
}

Finding run(Classroom& room) {
  const auto platform = room.devices(2);
  const auto model = make_model("mlp-tiny");
  dp::DataParallel strategy(*platform, *model, {.global_batch = 8});
  int copied = 0;
  int timed = 0;
  for (int step = 0; step < kSteps; ++step) {
    const Values before = values_of(*platform, strategy.weights());
    static_cast<void>(train(*platform, strategy, 1));
    if (is_copy_of(*platform, strategy, before)) ++copied;
    const auto phases = strategy.collect_phases();
    if (phases.back().times.of(Phase::kReplicate) > Nanoseconds{0}) ++timed;
  }
  return {
      holds_if(copied == kSteps && timed == kSteps),
      {fmt::format("replica 1 got the module's newest weights in {} of {} steps", copied, kSteps),
       fmt::format("its device spent time in replicate in {} of {}", timed, kSteps)},
      kAlgorithm};
}

}  // namespace replicas_rebuilt

const Lesson kReplicasRebuilt{
    "replicas-rebuilt",
    "The model is copied to the devices in every step, not once.",
    replicas_rebuilt::run,
};

}  // namespace tandem::bench
