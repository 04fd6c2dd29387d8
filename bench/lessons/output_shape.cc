// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/model/zoo.h"
#include "dp/scatter_gather.h"

namespace tandem::bench {
namespace {

constexpr int kDevices = 4;

std::string text_of(const Shape& shape) { return fmt::format("({})", joined(shape.dims())); }

struct Gathered {
  int replicas = 0;
  Shape outputs;
  Shape losses;         // where each replica returns its loss
  bool warned = false;  // of the latter
};

Gathered gather(Platform& platform, const Model& model, std::int64_t batch) {
  dp::DataParallel strategy(platform, model, {.global_batch = batch},
                            {.loss = dp::LossPlace::kReplicas});
  static_cast<void>(train(platform, strategy, 1));
  std::vector<Shape> outputs;
  for (const std::int64_t samples : samples_per_replica(strategy, model)) {
    outputs.push_back({samples, model.output_width()});
  }
  const std::vector<Shape> scalars(outputs.size());
  const auto warnings = strategy.warnings();
  return {strategy.devices_used(), dp::gathered_shape(outputs), dp::gathered_shape(scalars),
          std::find(warnings.begin(), warnings.end(), dp::scalars_warning()) != warnings.end()};
}

// With a batch of 9 one of the devices has no samples, and the vector no element for it.
Finding run(Classroom& room) {
  const auto platform = room.devices(kDevices);
  const auto model = make_model("linear");
  Finding finding{.scope = kAlgorithm};
  bool all = true;
  for (const std::int64_t batch : {10, 9}) {
    const Gathered found = gather(*platform, *model, batch);
    all = all && found.outputs == Shape{batch, model->output_width()} &&
          found.losses == Shape{found.replicas} && found.warned;
    finding.evidence.push_back(fmt::format(
        "linear, batch {:>2} on {} devices, {} replicas: outputs gathered to {}, losses to {}, {}",
        batch, kDevices, found.replicas, text_of(found.outputs), text_of(found.losses),
        found.warned ? "with torch's warning" : "without a warning"));
  }
  finding.verdict = holds_if(all);
  return finding;
}

}  // namespace

const Lesson kOutputShape{
    "output-shape",
    "The output has the shape (full batch, ...), and scalars become a vector, one per replica.",
    run,
};

}  // namespace tandem::bench
