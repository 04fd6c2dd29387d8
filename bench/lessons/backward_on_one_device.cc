// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/model/zoo.h"

namespace tandem::bench {
namespace backward_on_one_device {

constexpr int kDevices = 4;

bool any_is_nonzero(const Values& values) {
  return std::any_of(values.begin(), values.end(), [](const auto& tensor) {
    return std::any_of(tensor.begin(), tensor.end(), [](float value) { return value != 0; });
  });
}

struct Gradients {
  int nonzero = 0;   // devices whose replica has nonzero gradients
  double worst = 0;  // largest difference from the gradients of the replica's own piece
};

// The gradients that backward left in each device's own memory, compared with those of the device's
// piece trained by itself.
Gradients gradients_of(Platform& platform, const Model& model, const TrainingOptions& options) {
  dp::DataParallel strategy(platform, model, options);
  static_cast<void>(train(platform, strategy, 1));
  Gradients found;
  const auto pieces = chunk_batch(options.global_batch, kDevices);
  for (int i = 0; i < kDevices; ++i) {
    const Values mine = values_of(platform, strategy.replica_gradients(i));
    const Values own =
        contribution_of(platform, model, pieces[static_cast<std::size_t>(i)], options);
    if (any_is_nonzero(mine)) ++found.nonzero;
    found.worst = std::max(found.worst, relative_difference(own, mine));
  }
  return found;
}

Finding run(Classroom& room) {
  const auto platform = room.devices(kDevices);
  const auto model = make_model("mlp-tiny");
  const Gradients found = gradients_of(*platform, *model, {.global_batch = 10});
  return {decide(found.nonzero == 1, found.nonzero == kDevices && found.worst < kRounding),
          {fmt::format("devices with gradients of their own that are not zero: {} of {}",
                       found.nonzero, kDevices),
           fmt::format("each device's are those of its own piece of the batch within {:.1e}",
                       found.worst)},
          kAlgorithm};
}

}  // namespace backward_on_one_device

const Lesson kBackwardOnOneDevice{
    "backward-on-one-device",
    "Backward runs on one device only.",
    backward_on_one_device::run,
};

}  // namespace tandem::bench
