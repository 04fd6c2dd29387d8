// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/model/zoo.h"

namespace tandem::bench {
namespace {

constexpr int kDevices = 4;

Finding run(Classroom& room) {
  const auto platform = room.devices(kDevices);
  const auto model = make_model("mlp-tiny");
  dp::DataParallel strategy(*platform, *model, {.global_batch = 64});
  static_cast<void>(train(*platform, strategy, 5));
  std::vector<std::int64_t> updating;
  for (const DeviceTimes& device : strategy.collect_phases()) {
    if (device.times.of(Phase::kUpdate) > Nanoseconds{0}) updating.push_back(device.device);
  }
  return {holds_if(updating.size() == kDevices),
          {fmt::format("devices that ran the optimizer: {} (of 0 to {})", joined(updating),
                       kDevices - 1)},
          kAlgorithm};
}

}  // namespace

const Lesson kUpdateOnEveryDevice{
    "update-on-every-device",
    "Every device updates its own weights with the sum of the gradients.",
    run,
};

}  // namespace tandem::bench
