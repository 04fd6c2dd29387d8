// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/timing.h"
#include "common/model/zoo.h"
#include "common/parallel/single.h"
#include "common/stats/comparison.h"
#include "dp/data_parallel.h"

namespace tandem::bench {
namespace batch_of_two_slower {

constexpr int kRounds = 60;
constexpr std::int64_t kBatch = 2;

// The two devices without a sample run nothing, so two cores are enough to time four devices: the
// two devices with a sample have a core each.
Finding run(Classroom& room) {
  const auto platform = room.devices(4);
  const auto model = make_model("mlp-small");
  const TrainingOptions options = timed_training(kBatch);
  Single single(*platform, platform->device(0), *model, {0, kBatch}, options);
  dp::DataParallel wrapped(*platform, *model, options);
  const auto seconds = interleave({step_of(single), step_of(wrapped)}, kRounds);
  const stats::Estimate ratio = stats::median_of_paired_ratios(seconds[0], seconds[1]);
  const Verdict verdict = above(ratio, 1);
  return {
      verdict,
      {fmt::format("mlp-small, batch {}: a step on 4 devices, of which {} work, takes {} times as "
                   "long as on one{}",
                   kBatch, wrapped.devices_used(), text_of(ratio), unresolved_note(verdict, 1))},
      kHostOnly};
}

}  // namespace batch_of_two_slower

const Lesson kBatchOfTwoSlower{
    "batch-of-two-slower",
    "A batch of 2 takes longer on four devices than on one.",
    batch_of_two_slower::run,
    Ranks::kOne,
    2,
};

}  // namespace tandem::bench
