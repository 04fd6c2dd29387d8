// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/model/zoo.h"

namespace tandem::bench {
namespace scalar_outputs {

constexpr int kDevices = 4;

bool warned(const Strategy& strategy) {
  const auto warnings = strategy.warnings();
  return std::find(warnings.begin(), warnings.end(), dp::scalars_warning()) != warnings.end();
}

// Each replica returns the loss of its piece. With a batch of 9 one of the devices has no samples.
Finding run(Classroom& room) {
  const auto platform = room.devices(kDevices);
  const auto model = make_model("linear");
  Finding finding{.scope = kAlgorithm};
  bool by_device = true;
  bool by_replica = true;
  for (const std::int64_t batch : {8, 10, 9}) {
    dp::DataParallel strategy(*platform, *model, plain_sgd(batch),
                              {.loss = dp::LossPlace::kReplicas});
    static_cast<void>(train(*platform, strategy, 1));
    const auto length = values_of(*platform, strategy.gathered()).size();
    by_device = by_device && length == kDevices;
    by_replica = by_replica && length == static_cast<std::size_t>(strategy.devices_used());
    finding.evidence.push_back(
        fmt::format("linear, batch {:>2} on {} devices, {} replicas: {} losses gathered, {}", batch,
                    kDevices, strategy.devices_used(), length,
                    warned(strategy) ? "with torch's warning" : "without a warning"));
  }
  finding.verdict = decide(by_device, by_replica && !by_device);
  return finding;
}

}  // namespace scalar_outputs

const Lesson kScalarOutputs{
    "scalar-outputs",
    "Scalars that forward returns become a vector as long as the number of devices.",
    scalar_outputs::run,
};

}  // namespace tandem::bench
