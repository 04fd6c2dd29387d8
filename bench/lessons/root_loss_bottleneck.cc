// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/timing.h"
#include "common/model/zoo.h"
#include "common/stats/comparison.h"
#include "dp/data_parallel.h"

namespace tandem::bench {
namespace root_loss_bottleneck {

constexpr int kRounds = 80;
constexpr double kBar = 1.1;  // the step time that counts as a bottleneck: 10 % longer
constexpr std::int64_t kBatch = 256;

double share_of(const PhaseTimes& times, std::initializer_list<Phase> phases) {
  Nanoseconds sum{0};
  for (const Phase phase : phases) sum += times.of(phase);
  return Seconds(sum) / Seconds(times.span);
}

// Compares the loss on the root with the same loss inside the replicas; outputs are as wide as the
// layers, so that there is something to gather.
Finding run(Classroom& room) {
  const auto platform = room.devices(2);
  const auto model = make_model("mlp:2x1024");
  TrainingOptions options = timed_training(kBatch);
  options.phases.timing = PhaseTiming::kOn;
  dp::DataParallel on_root(*platform, *model, options);
  dp::DataParallel in_replicas(*platform, *model, options, {.loss = dp::LossPlace::kReplicas});
  const auto seconds = interleave({step_of(in_replicas), step_of(on_root)}, kRounds);
  const stats::Estimate ratio = stats::median_of_paired_ratios(seconds[0], seconds[1]);
  const PhaseTimes root = on_root.collect_phases().front().times;
  const Verdict verdict = above(ratio, kBar);
  return {
      verdict,
      {fmt::format("mlp:2x1024, batch {}, 2 devices: of the root's time the loss takes {:.1f} %, "
                   "gather and scatter_grad {:.1f} %",
                   kBatch, 100 * share_of(root, {Phase::kLoss}),
                   100 * share_of(root, {Phase::kGather, Phase::kScatterGrad})),
       fmt::format("a step takes {} times as long as with the loss in the replicas{}; a "
                   "bottleneck: above {}",
                   text_of(ratio), unresolved_note(verdict, kBar), kBar)},
      kHostOnly};
}

}  // namespace root_loss_bottleneck

const Lesson kRootLossBottleneck{
    "root-loss-bottleneck",
    "The loss on the first device is a bottleneck.",
    root_loss_bottleneck::run,
    Ranks::kOne,
    2,
};

}  // namespace tandem::bench
