// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/model/zoo.h"

namespace tandem::bench {
namespace update_on_every_device {

constexpr int kDevices = 4;

using Devices = std::vector<std::int64_t>;

std::string text_of(const Devices& devices) {
  if (devices.empty()) return "none";
  if (devices.size() == 1) return fmt::format("device {} alone", devices.front());
  return fmt::format("devices {}", joined(devices));
}

struct Found {
  Devices timed;      // devices that spent time in update
  Devices updated;    // devices that hold the updated weights after the step
  Devices untouched;  // devices that hold the weights of the step's start
};

Found look(Platform& platform, const Model& model) {
  dp::DataParallel strategy(platform, model, {.global_batch = 64});
  static_cast<void>(train(platform, strategy, 4));
  const Values before = values_of(platform, strategy.weights());
  const Values after = train(platform, strategy, 1).weights;
  Found found;
  for (int i = 0; i < kDevices; ++i) {
    const Values mine = values_of(platform, strategy.replica(i).parameters().tensors);
    if (mine == after) found.updated.push_back(i);
    if (mine == before) found.untouched.push_back(i);
  }
  for (const DeviceTimes& device : strategy.collect_phases()) {
    if (device.times.of(Phase::kUpdate) > Nanoseconds{0}) found.timed.push_back(device.device);
  }
  return found;
}

Finding run(Classroom& room) {
  const auto platform = room.devices(kDevices);
  const auto model = make_model("mlp-tiny");
  const Found found = look(*platform, *model);
  const bool first_alone =
      found.updated == Devices{0} && found.timed == found.updated && found.untouched.size() == 3;
  return {decide(found.updated.size() == kDevices, first_alone),
          {fmt::format("ran the optimizer: {}, of {}", text_of(found.timed), kDevices),
           fmt::format("hold the updated weights after a step: {}", text_of(found.updated)),
           fmt::format("hold the weights that they were sent in it: {}", text_of(found.untouched))},
          kAlgorithm};
}

}  // namespace update_on_every_device

const Lesson kUpdateOnEveryDevice{
    "update-on-every-device",
    "Every device updates its own weights with the sum of the gradients.",
    update_on_every_device::run,
};

}  // namespace tandem::bench
