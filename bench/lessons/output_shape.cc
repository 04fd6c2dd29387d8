// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/model/zoo.h"

namespace tandem::bench {
namespace output_shape {

constexpr int kDevices = 4;

// A batch of 9 leaves one of the devices without samples, a batch of 1 three devices.
Finding run(Classroom& room) {
  const auto platform = room.devices(kDevices);
  const auto model = make_model("linear");
  const std::int64_t width = model->output_width();
  Finding finding{.scope = kAlgorithm};
  bool all = true;
  for (const std::int64_t batch : {10, 9, 1}) {
    dp::DataParallel strategy(*platform, *model, plain_sgd(batch));
    static_cast<void>(train(*platform, strategy, 1));
    const auto gathered = values_of(*platform, strategy.gathered());
    const bool whole = static_cast<std::int64_t>(gathered.size()) == batch * width;
    const bool in_order = gathered == outputs_of(*platform, strategy);
    all = all && whole && in_order;
    finding.evidence.push_back(fmt::format(
        "linear, batch {:>2} on {} devices, pieces {}: {} values gathered, {} a sample, {}", batch,
        kDevices, joined(samples_per_replica(strategy, *model)), gathered.size(), width,
        in_order ? "in the order of the batch" : "not what the replicas returned"));
  }
  finding.verdict = holds_if(all);
  return finding;
}

}  // namespace output_shape

const Lesson kOutputShape{
    "output-shape",
    "The output has the shape (full batch, ...), whatever the devices had of it.",
    output_shape::run,
};

}  // namespace tandem::bench
