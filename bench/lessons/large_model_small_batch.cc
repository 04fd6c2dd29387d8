// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/timing.h"
#include "common/model/linear_stack.h"
#include "common/parallel/single.h"
#include "common/stats/comparison.h"
#include "dp/data_parallel.h"

namespace tandem::bench {
namespace large_model_small_batch {

constexpr int kRounds = 24;
constexpr double kBar = 0.95;  // step time of two devices over that of one: a gain of less than 5 %

// The claim's own model is mlp-large, 150 M parameters, at batch 16. The lesson takes an eighth of
// both: as many parameters per sample, on which the ratio of transfer to compute depends.
constexpr std::int64_t kBatch = 2;
const std::vector<std::int64_t>& widths() {
  static const std::vector<std::int64_t> all{3536, 1768, 1768, 1768, 3536};
  return all;
}

Finding run(Classroom& room) {
  const auto platform = room.devices(2);
  const Mlp model("mlp-large/8", widths());
  TrainingOptions options = timed_training(kBatch);
  options.optimizer.kind = OptimizerKind::kAdam;
  Single single(*platform, platform->device(0), model, {0, kBatch}, options);
  dp::DataParallel wrapped(*platform, model, options);
  const auto seconds = interleave({step_of(single), step_of(wrapped)}, kRounds);
  const stats::Estimate ratio = stats::median_of_paired_ratios(seconds[0], seconds[1]);
  const Verdict verdict = above(ratio, kBar);
  return {
      verdict,
      {fmt::format("an eighth of mlp-large and of its batch of 16: {:.1f} M parameters, batch {}, "
                   "Adam, 2 devices",
                   static_cast<double>(model.layout().parameter_count()) * 1e-6, kBatch),
       fmt::format("a step takes {} times as long as on one device{}; a gain: below {}",
                   text_of(ratio), unresolved_note(verdict, kBar), kBar)},
      "one launch on the host, scaled down at equal parameters per sample: says nothing about "
      "other "
      "launches, or GPUs"};
}

}  // namespace large_model_small_batch

const Lesson kLargeModelSmallBatch{
    "large-model-small-batch",
    "A large model with a small batch gains nothing from a second device.",
    large_model_small_batch::run,
    Ranks::kOne,
    2,
};

}  // namespace tandem::bench
