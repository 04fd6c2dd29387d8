// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/model/zoo.h"

namespace tandem::bench {
namespace old_weights {

constexpr int kSteps = 10;
constexpr auto kLargestDelay = std::chrono::microseconds(200);

Trained train_waiting(Platform& platform, const Model& model, const TrainingOptions& options) {
  dp::DataParallel strategy(platform, model, options);
  for (int step = 1; step < kSteps; ++step) static_cast<void>(train(platform, strategy, 1));
  return train(platform, strategy, 1);
}

// All steps are enqueued at once, while every piece of queued work starts late by a random time: a
// device that did not wait for the update would run ahead of the update.
Finding run(Classroom& room) {
  const auto model = make_model("mlp-tiny");
  const TrainingOptions options{.global_batch = 16};
  const auto calm = room.devices(4);
  const auto disturbed = room.devices(4, {.largest_delay = kLargestDelay, .delay_seed = 1});
  const Trained waited = train_waiting(*calm, *model, options);
  const bool same = train_dp(*disturbed, *model, options, kSteps) == waited;
  return {holds_if(!same),
          {fmt::format("{} steps enqueued without a wait, work delayed at random on 4 devices: {} "
                       "as with a wait after each step",
                       kSteps, same ? "the same bits" : "other numbers")},
          kAlgorithm};
}

}  // namespace old_weights

const Lesson kOldWeights{
    "old-weights",
    "A device may begin the next batch before the weights are updated.",
    old_weights::run,
};

}  // namespace tandem::bench
