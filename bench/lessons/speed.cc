// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/lessons/classroom.h"
#include "bench/lessons/run_lessons.h"
#include "bench/lessons/timing.h"
#include "bench/lessons/training.h"
#include "common/model/linear_stack.h"
#include "common/model/zoo.h"
#include "common/parallel/independent.h"
#include "common/parallel/single.h"
#include "common/stats/comparison.h"
#include "common/stats/summary.h"
#include "ddp/distributed_data_parallel.h"
#include "ddp/dp_all_reduce.h"
#include "dp/data_parallel.h"

namespace tandem::bench {

namespace root_memory {

LessonFinding run(Classroom& room) {
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
          {fmt::format("mlp-small, batch 64, Adam, 4 devices: peak {} on the first, "
                       "{} at most on the others",
                       to_string(root), to_string(most)),
           "the first also holds the optimizer's state, the sum of the gradients, all outputs"},
          "this implementation's allocations, which are those of the algorithm, "
          "without a caching allocator's"};
}

}  // namespace root_memory

const Lesson kRootMemory{
    "root-memory",
    "The first device holds more memory than the others.",
    root_memory::run,
};

namespace proportional_speed_up {

constexpr int kRounds = 60;
constexpr double kBar = 1.8;  // nine tenths of twice as fast

// The speed-up of two devices over one.
stats::Estimate speed_up(Classroom& room, std::int64_t batch) {
  const auto platform = room.devices(2);
  const auto model = make_model("mlp-small");
  const TrainingOptions options = timed_training(batch);
  Single single(*platform, platform->device(0), *model, {0, batch}, options);
  dp::DataParallel wrapped(*platform, *model, options);
  return ratio_of(wrapped, single, kRounds);
}

// One batch that contradicts the claim refutes its "always"; only all batches bear the claim out.
LessonFinding run(Classroom& room) {
  LessonFinding finding{.verdict = LessonVerdict::kHolds, .scope = kHostOnly};
  for (const std::int64_t batch : {16, 64, 256}) {
    const stats::Estimate speed = speed_up(room, batch);
    const LessonVerdict verdict = above(speed, kBar);
    finding.verdict = in_both(finding.verdict, verdict);
    finding.evidence.push_back(
        fmt::format("mlp-small, batch {:>3}: 2 devices are {} times as fast "
                    "as one{}; in proportion: above {}",
                    batch, text_of(speed), unresolved_note(verdict, kBar), kBar));
  }
  return finding;
}

}  // namespace proportional_speed_up

const Lesson kProportionalSpeedUp{
    "proportional-speed-up",
    "DataParallel always trains faster in proportion to the number of devices.",
    proportional_speed_up::run,
    Ranks::kOne,
    2,
};

namespace batch_of_two_slower {

constexpr int kRounds = 60;
constexpr std::int64_t kBatch = 2;

// The two devices without a sample run nothing, so two cores are enough to time four devices: the
// two devices with a sample have a core each.
LessonFinding run(Classroom& room) {
  const auto platform = room.devices(4);
  const auto model = make_model("mlp-small");
  const TrainingOptions options = timed_training(kBatch);
  Single single(*platform, platform->device(0), *model, {0, kBatch}, options);
  dp::DataParallel wrapped(*platform, *model, options);
  const stats::Estimate ratio = ratio_of(single, wrapped, kRounds);
  const LessonVerdict verdict = above(ratio, 1);
  return {
      verdict,
      {fmt::format("mlp-small, batch {}: a step on 4 devices, of which {} work, "
                   "takes {} times as long as on one{}",
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

LessonFinding run(Classroom& room) {
  const auto platform = room.devices(2);
  const Mlp model("mlp-large/8", widths());
  TrainingOptions options = timed_training(kBatch);
  options.optimizer.kind = OptimizerKind::kAdam;
  Single single(*platform, platform->device(0), model, {0, kBatch}, options);
  dp::DataParallel wrapped(*platform, model, options);
  const stats::Estimate ratio = ratio_of(single, wrapped, kRounds);
  const LessonVerdict verdict = above(ratio, kBar);
  return {
      verdict,
      {fmt::format("an eighth of mlp-large and of its batch of 16: {:.1f} M parameters, batch {}, "
                   "Adam, 2 devices",
                   static_cast<double>(model.layout().parameter_count()) * 1e-6, kBatch),
       fmt::format("a step takes {} times as long as on one device{}; a gain: below {}",
                   text_of(ratio), unresolved_note(verdict, kBar), kBar)},
      "one launch on the host, scaled down at equal parameters per sample: says nothing about "
      "other launches, or GPUs"};
}

}  // namespace large_model_small_batch

const Lesson kLargeModelSmallBatch{
    "large-model-small-batch",
    "A large model with a small batch gains nothing from a second device.",
    large_model_small_batch::run,
    Ranks::kOne,
    2,
};

namespace scaling_flattens {

constexpr int kRounds = 40;
constexpr const char* kModel = "mlp-small";
constexpr std::int64_t kBatch = 384;
constexpr double kBar = 1.0 + 1.0 / 6;  // half of what a fourth device adds to three: 4/3

dp::DataParallelOptions first_devices(int count) {
  dp::DataParallelOptions how;
  for (int i = 0; i < count; ++i) how.device_ids.push_back(i);
  return how;
}

LessonFinding run(Classroom& room) {
  const auto platform = room.devices(4);
  const auto model = make_model(kModel);
  const TrainingOptions options = timed_training(kBatch);
  dp::DataParallel three(*platform, *model, options, first_devices(3));
  dp::DataParallel four(*platform, *model, options, first_devices(4));
  const stats::Estimate speed = ratio_of(four, three, kRounds);
  const LessonVerdict more = above(speed, kBar);
  const bool decided = more != LessonVerdict::kNotDecidable;
  return {decided ? holds_if(more == LessonVerdict::kDoesNotHold) : more,
          {fmt::format("{}, batch {}: 4 devices are {} times as fast as 3{}; flat: below {:.2f}, "
                       "half of what a fourth could add",
                       kModel, kBatch, text_of(speed), decided ? "" : ", not resolved", kBar)},
          kHostOnly};
}

}  // namespace scaling_flattens

const Lesson kScalingFlattens{
    "scaling-flattens",
    "Scaling flattens beyond two or three devices.",
    scaling_flattens::run,
    Ranks::kOne,
    4,
};

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
LessonFinding run(Classroom& room) {
  const auto platform = room.devices(2);
  const auto model = make_model("mlp:2x1024");
  TrainingOptions options = timed_training(kBatch);
  options.phases.timing = PhaseTiming::kOn;
  dp::DataParallel on_root(*platform, *model, options);
  dp::DataParallel in_replicas(*platform, *model, options, {.loss = dp::LossPlace::kReplicas});
  const stats::Estimate ratio = ratio_of(in_replicas, on_root, kRounds);
  const PhaseTimes root = on_root.collect_phases().front().times;
  const LessonVerdict verdict = above(ratio, kBar);
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

namespace threads_slower {

constexpr int kRounds = 60;
constexpr std::int64_t kBatch = 128;
constexpr double kBar = 1.05;  // step time that counts as slower: 5 % or more

struct Ratios {
  stats::Estimate independent;  // threads' step time over processes'
  stats::Estimate all_reduce;   // dp-allreduce's over ddp's
};

// Runs the same work as threads of rank 0 and as a process per device, taking turns in one job.
Ratios measure(Classroom& room, Job& job) {
  Communicator& ranks = *job.communicator;
  const auto model = make_model("mlp-small");
  const TrainingOptions options = timed_training(kBatch);
  const auto threads = room.devices(ranks.size());
  std::unique_ptr<IndependentThreads> apart;
  std::unique_ptr<ddp::DpAllReduce> together;
  if (room.is_first()) {
    apart = std::make_unique<IndependentThreads>(*threads, *model, options);
    together = std::make_unique<ddp::DpAllReduce>(*threads, *model, options);
  }
  Single share(*job.platform, *job.device, *model,
               share_of_batch(kBatch, ranks.rank(), ranks.size()), options);
  ddp::DistributedDataParallel ddp(*job.platform, *job.device, *model, {ranks}, options, {});
  const auto seconds =
      interleave({step_of_first_rank(ranks, apart.get()), step_of_all_ranks(ranks, share),
                  step_of_first_rank(ranks, together.get()), step_of_all_ranks(ranks, ddp)},
                 kRounds);
  return {stats::median_of_paired_ratios(seconds[1], seconds[0]),
          stats::median_of_paired_ratios(seconds[3], seconds[2])};
}

LessonFinding run(Classroom& room) {
  return room.together([&](Job& job) -> LessonFinding {
    const Ratios ratios = measure(room, job);
    const LessonVerdict independent = above(ratios.independent, kBar);
    const LessonVerdict all_reduce = above(ratios.all_reduce, kBar);
    return {in_both(independent, all_reduce),
            {fmt::format("mlp-small, batch {}, 2 devices, no interpreter; slower: above {}", kBatch,
                         kBar),
             fmt::format("independent: a step of threads takes {} times as long as of processes{}",
                         text_of(ratios.independent), unresolved_note(independent, kBar)),
             fmt::format("all-reduce: dp-allreduce takes {} times as long as ddp{}",
                         text_of(ratios.all_reduce), unresolved_note(all_reduce, kBar))},
            kHostOnly};
  });
}

}  // namespace threads_slower

const Lesson kThreadsSlower{
    "threads-slower",
    "Threads as such are slower than processes, also without an interpreter lock.",
    threads_slower::run,
    Ranks::kTwo,
    2,
};

}  // namespace tandem::bench
