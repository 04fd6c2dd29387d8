// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/model/zoo.h"
#include "dp/scatter_gather.h"

namespace tandem::bench {
namespace {

constexpr std::int64_t kBatch = 10;

std::string text_of(const Shape& shape) { return fmt::format("({})", joined(shape.dims())); }

Finding run(Classroom& room) {
  const auto platform = room.devices(4);
  const auto model = make_model("linear");
  dp::DataParallel strategy(*platform, *model, {.global_batch = kBatch},
                            {.loss = dp::LossPlace::kReplicas});
  static_cast<void>(train(*platform, strategy, 1));
  std::vector<Shape> outputs;
  for (const std::int64_t samples : samples_per_replica(strategy, *model)) {
    outputs.push_back({samples, model->output_width()});
  }
  const Shape gathered = dp::gathered_shape(outputs);
  const Shape scalars = dp::gathered_shape(std::vector<Shape>(outputs.size()));
  const auto warnings = strategy.warnings();
  const bool warned =
      std::find(warnings.begin(), warnings.end(), dp::scalars_warning()) != warnings.end();
  return {
      holds_if(gathered == Shape{kBatch, model->output_width()} && scalars == Shape{4} && warned),
      {fmt::format("outputs of 4 replicas on a batch of {}: gathered to {}", kBatch,
                   text_of(gathered)),
       fmt::format("a loss from each replica: gathered to {}, {}", text_of(scalars),
                   warned ? "with torch's warning" : "without a warning")},
      kAlgorithm};
}

}  // namespace

const Lesson kOutputShape{
    "output-shape",
    "The output has the shape (full batch, ...), and scalars become a vector with one per device.",
    run,
};

}  // namespace tandem::bench
