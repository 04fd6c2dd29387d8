// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/training.h"
#include "common/model/zoo.h"

namespace tandem::bench {
namespace root_memory {

Finding run(Classroom& room) {
  const auto platform = room.devices(4);
  const auto model = make_model("mlp-small");
  TrainingOptions options{.global_batch = 64};
  options.optimizer.kind = OptimizerKind::kAdam;
  static_cast<void>(train_dp(*platform, *model, options, 2));
  const Bytes root = platform->device(0).memory().peak;
  Bytes most;
  for (int i = 1; i < platform->device_count(); ++i) {
    most = std::max(most, platform->device(i).memory().peak);
  }
  return {holds_if(root > most),
          {fmt::format("mlp-small, batch 64, Adam, 4 devices: peak {} on the first, {} at most on "
                       "the others",
                       to_string(root), to_string(most)),
           "the first also holds the optimizer's state, the sum of the gradients, all outputs"},
          "this implementation's allocations, which are those of the algorithm, without a caching "
          "allocator's"};
}

}  // namespace root_memory

const Lesson kRootMemory{
    "root-memory",
    "The first device holds more memory than the others.",
    root_memory::run,
};

}  // namespace tandem::bench
