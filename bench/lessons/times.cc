// SPDX-License-Identifier: Apache-2.0
//
// Claims about times: steps of two ways to train, taken in turn, whose ratio is held against a bar.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "bench/lessons/lessons.h"
#include "common/base/units.h"
#include "common/model/linear_stack.h"
#include "common/model/zoo.h"
#include "common/parallel/single.h"
#include "common/stats/comparison.h"
#include "dp/data_parallel.h"

namespace tandem::bench {
namespace {

constexpr int kDiscarded = 4;  // rounds in which caches, kernels and first touches settle

// DataParallel on the first devices, or on one device the model without a wrapper.
struct Replicas {
  int devices = 1;
  dp::LossPlace loss = dp::LossPlace::kRoot;
};

std::string name_of(const Replicas& replicas) {
  if (replicas.devices == 1) return "one device";
  return fmt::format("{} devices{}", replicas.devices,
                     replicas.loss == dp::LossPlace::kRoot ? "" : " with the loss in the replicas");
}

std::unique_ptr<Strategy> make(Platform& platform, const Model& model,
                               const TrainingOptions& options, const Replicas& replicas) {
  if (replicas.devices == 1) {
    return std::make_unique<Single>(platform, platform.device(0), model,
                                    Shard{0, options.global_batch}, options);
  }
  dp::DataParallelOptions how{
      .device_ids = std::vector<int>(static_cast<std::size_t>(replicas.devices)),
      .loss = replicas.loss};
  std::iota(how.device_ids.begin(), how.device_ids.end(), 0);
  return std::make_unique<dp::DataParallel>(platform, model, options, how);
}

double seconds_of_step(Strategy& strategy) {
  const TimePoint start = Clock::now();
  strategy.step();
  strategy.synchronize();
  return Seconds(Clock::now() - start).count();
}

// The step time of `second` over that of `first`. In every other round the two come in reverse
// order, so that whoever gains or loses by the sample before does so in half of the rounds only.
stats::Estimate ratio_of(Strategy& first, Strategy& second, int rounds) {
  const std::array<Strategy*, 2> strategies{&first, &second};
  std::array<std::vector<double>, 2> seconds;
  for (int round = -kDiscarded; round < rounds; ++round) {
    for (std::size_t turn = 0; turn < strategies.size(); ++turn) {
      const std::size_t which = round % 2 == 0 ? turn : 1 - turn;
      const double sample = seconds_of_step(*strategies.at(which));
      if (round >= 0) seconds.at(which).push_back(sample);
    }
  }
  return stats::median_of_paired_ratios(seconds[0], seconds[1]);
}

std::string text_of(const stats::Estimate& estimate) {
  if (!estimate.interval) return fmt::format("{:.2f} [no interval]", estimate.center);
  return fmt::format("{:.2f} [{:.2f} .. {:.2f}]", estimate.center, estimate.interval->low,
                     estimate.interval->high);
}

// The claim that a step takes more than `bar` times as long with the first as with the second.
struct Timed {
  std::int64_t batch = 0;
  Replicas first{};
  Replicas second{};
  double bar = 1;
  int rounds = 60;
  OptimizerKind optimizer = OptimizerKind::kSgd;
};

LessonVerdict judge(const Classroom& room, const Model& model, const Timed& timed,
                    std::vector<std::string>& evidence) {
  const auto platform = room.devices(std::max(timed.first.devices, timed.second.devices));
  TrainingOptions options{.global_batch = timed.batch};
  options.phases.timing = PhaseTiming::kOff;
  options.optimizer.kind = timed.optimizer;
  const auto first = make(*platform, model, options, timed.first);
  const auto second = make(*platform, model, options, timed.second);
  const stats::Estimate ratio = ratio_of(*second, *first, timed.rounds);
  const LessonVerdict verdict = above(ratio, timed.bar);
  evidence.push_back(fmt::format(
      "{}, batch {}: a step on {} takes {} times as long as on {}{}; claimed: above {:.3g}",
      model.name(), timed.batch, name_of(timed.first), text_of(ratio), name_of(timed.second),
      verdict == LessonVerdict::kNotDecidable ? ", not resolved" : "", timed.bar));
  return verdict;
}

// Holds in all cases: one case that contradicts the claim refutes it.
LessonFinding judged(const Classroom& room, const Model& model, const std::vector<Timed>& cases) {
  LessonFinding finding{.verdict = LessonVerdict::kHolds};
  for (const Timed& timed : cases) {
    const LessonVerdict verdict = judge(room, model, timed, finding.evidence);
    if (verdict == LessonVerdict::kHolds) continue;
    if (finding.verdict != LessonVerdict::kDoesNotHold) finding.verdict = verdict;
  }
  return finding;
}

}  // namespace

const std::vector<Lesson>& timed_lessons() {
  static constexpr std::string_view kHostOnly =
      "one launch on the host: says nothing about other launches, or GPUs";
  static const std::vector<Lesson> all{
      // In proportion: nine tenths of twice as fast.
      {"proportional-speed-up",
       "DataParallel always trains faster in proportion to the number of devices.",
       [](const Classroom& room) {
         std::vector<Timed> cases;
         for (const std::int64_t batch : {16, 64, 256}) {
           cases.push_back({.batch = batch, .second = {.devices = 2}, .bar = 1.8});
         }
         return judged(room, *make_model("mlp-small"), cases);
       },
       kHostOnly, 2},
      // The two devices without a sample run nothing: two cores are enough.
      {"batch-of-two-slower", "A batch of 2 takes longer on four devices than on one.",
       [](const Classroom& room) {
         return judged(room, *make_model("mlp-small"), {{.batch = 2, .first = {.devices = 4}}});
       },
       kHostOnly, 2},
      // The claim's own model is mlp-large, 150 M parameters, at batch 16. The lesson takes an
      // eighth of both: as many parameters per sample, on which the ratio of transfer to compute
      // depends. A gain is 5 % at least.
      {"large-model-small-batch",
       "A large model with a small batch gains nothing from a second device.",
       [](const Classroom& room) {
         return judged(room, Mlp("mlp-large/8", {3536, 1768, 1768, 1768, 3536}),
                       {{.batch = 2,
                         .first = {.devices = 2},
                         .bar = 0.95,
                         .rounds = 24,
                         .optimizer = OptimizerKind::kAdam}});
       },
       "one launch on the host, scaled down at equal parameters per sample: says nothing about "
       "other launches, or GPUs",
       2},
      // Outputs are as wide as the layers, so that there is something to gather.
      {"root-loss-bottleneck", "The loss on the first device is a bottleneck.",
       [](const Classroom& room) {
         return judged(room, *make_model("mlp:2x1024"),
                       {{.batch = 256,
                         .first = {.devices = 2},
                         .second = {.devices = 2, .loss = dp::LossPlace::kReplicas},
                         .bar = 1.1,
                         .rounds = 80}});
       },
       kHostOnly, 2},
  };
  return all;
}

}  // namespace tandem::bench
