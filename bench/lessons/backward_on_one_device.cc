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
  int busy = 0;
  for (const DeviceTimes& device : strategy.collect_phases()) {
    if (device.times.of(Phase::kBackward) > Nanoseconds{0}) ++busy;
  }
  return {holds_if(busy == 1),
          {fmt::format("devices that spent time in backward: {} of {}", busy, kDevices)},
          kAlgorithm};
}

}  // namespace

const Lesson kBackwardOnOneDevice{
    "backward-on-one-device",
    "Backward runs on one device only.",
    run,
};

}  // namespace tandem::bench
