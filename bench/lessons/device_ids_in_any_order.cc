// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/model/zoo.h"

namespace tandem::bench {
namespace device_ids_in_any_order {

constexpr int kSteps = 3;

Finding run(Classroom& room) {
  const auto platform = room.devices(3);
  const auto model = make_model("mlp-tiny");
  const TrainingOptions options{.global_batch = 9};
  dp::DataParallel strategy(*platform, *model, options,
                            {.device_ids = {2, 0, 1}, .output_device = 1, .model_device = 2});
  const Trained wrapped = train(*platform, strategy, kSteps);
  const Trained single = train_single(*platform, *model, options, kSteps);
  const double difference = relative_difference(single, wrapped);
  const int root = strategy.weights().front().device().index;
  return {holds_if(root == 2 && difference < kRounding),
          {fmt::format("mlp-tiny, batch 9, outputs gathered on 1: {} steps as on one device within "
                       "{:.1e}; weights are updated on device {}",
                       kSteps, difference, root)},
          kAlgorithm};
}

}  // namespace device_ids_in_any_order

const Lesson kDeviceIdsInAnyOrder{
    "device-ids-in-any-order",
    "device_ids [2, 0, 1] works where the model is on 2, with the outputs on 1.",
    device_ids_in_any_order::run,
};

}  // namespace tandem::bench
