// SPDX-License-Identifier: Apache-2.0
//
// Claims about times: steps of two ways to train, taken in turn, whose ratio is held against a bar.
#include <algorithm>
#include <array>
#include <numeric>

#include "bench/lessons/lessons.h"
#include "bench/lessons/timing.h"
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
namespace {

// DataParallel on the first devices, or on one device the model without a wrapper.
struct Way {
  int devices = 1;
  dp::LossPlace loss = dp::LossPlace::kRoot;
};

std::string name_of(const Way& way) {
  if (way.devices == 1) return "one device";
  return fmt::format("{} devices{}", way.devices,
                     way.loss == dp::LossPlace::kRoot ? "" : " with the loss in the replicas");
}

std::unique_ptr<Strategy> make(Platform& platform, const Model& model,
                               const TrainingOptions& options, const Way& way) {
  if (way.devices == 1) {
    return std::make_unique<Single>(platform, platform.device(0), model,
                                    Shard{0, options.global_batch}, options);
  }
  dp::DataParallelOptions how{.device_ids = std::vector<int>(static_cast<std::size_t>(way.devices)),
                              .loss = way.loss};
  std::iota(how.device_ids.begin(), how.device_ids.end(), 0);
  return std::make_unique<dp::DataParallel>(platform, model, options, how);
}

// The claim that a step of the first way takes more than `bar` times as long as one of the second.
struct Timed {
  std::int64_t batch = 0;
  Way first{};
  Way second{};
  double bar = 1;
  int rounds = 60;
  OptimizerKind optimizer = OptimizerKind::kSgd;
};

LessonVerdict judge(Classroom& room, const Model& model, const Timed& timed,
                    std::vector<std::string>& evidence) {
  const auto platform = room.devices(std::max(timed.first.devices, timed.second.devices));
  TrainingOptions options = timed_training(timed.batch);
  options.optimizer.kind = timed.optimizer;
  const auto first = make(*platform, model, options, timed.first);
  const auto second = make(*platform, model, options, timed.second);
  const stats::Estimate ratio = ratio_of(*second, *first, timed.rounds);
  const LessonVerdict verdict = above(ratio, timed.bar);
  evidence.push_back(fmt::format(
      "{}, batch {}: a step on {} takes {} times as long as on {}{}; claimed: above {:.3g}",
      model.name(), timed.batch, name_of(timed.first), text_of(ratio), name_of(timed.second),
      unresolved_note(verdict, timed.bar), timed.bar));
  return verdict;
}

LessonFinding judged(Classroom& room, const Model& model, const Timed& timed) {
  LessonFinding finding;
  finding.verdict = judge(room, model, timed, finding.evidence);
  return finding;
}

// In proportion: nine tenths of twice as fast. One batch that contradicts the claim refutes its
// "always"; only all batches bear it out.
LessonFinding proportional_speed_up(Classroom& room) {
  LessonFinding finding{.verdict = LessonVerdict::kHolds};
  for (const std::int64_t batch : {16, 64, 256}) {
    const Timed timed{.batch = batch, .second = {.devices = 2}, .bar = 1.8};
    finding.verdict =
        in_both(finding.verdict, judge(room, *make_model("mlp-small"), timed, finding.evidence));
  }
  return finding;
}

// The claim's own model is mlp-large, 150 M parameters, at batch 16. The lesson takes an eighth of
// both: as many parameters per sample, on which the ratio of transfer to compute depends. A gain is
// 5 % at least.
LessonFinding large_model_small_batch(Classroom& room) {
  return judged(room, Mlp("mlp-large/8", {3536, 1768, 1768, 1768, 3536}),
                {.batch = 2,
                 .first = {.devices = 2},
                 .bar = 0.95,
                 .rounds = 24,
                 .optimizer = OptimizerKind::kAdam});
}

// Flat: a fourth device brings less than half of what it could add to three, 4/3.
LessonFinding scaling_flattens(Classroom& room) {
  LessonFinding finding = judged(room, *make_model("mlp-small"),
                                 {.batch = 384,
                                  .first = {.devices = 3},
                                  .second = {.devices = 4},
                                  .bar = 1 + 1.0 / 6,
                                  .rounds = 40});
  finding.evidence.emplace_back("flat: not above that");
  if (finding.verdict != LessonVerdict::kNotDecidable) {
    finding.verdict = holds_if(finding.verdict == LessonVerdict::kDoesNotHold);
  }
  return finding;
}

// The same work as threads of rank 0 and as a process per device, taking turns in one job. Slower:
// 5 % or more.
LessonFinding threads_slower(Classroom& room) {
  constexpr double kBar = 1.05;
  constexpr std::int64_t kBatch = 128;
  return room.together([&](Job& job) -> LessonFinding {
    Communicator& ranks = *job.communicator;
    const auto model = make_model("mlp-small");
    const TrainingOptions options = timed_training(kBatch);
    const auto threads = room.devices(ranks.size());
    std::unique_ptr<Strategy> apart;
    std::unique_ptr<Strategy> together;
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
                   60);
    LessonFinding finding{.verdict = LessonVerdict::kHolds};
    for (const auto& [name, at] : {std::pair{"independent", 0U}, std::pair{"all-reduce", 2U}}) {
      const auto ratio = stats::median_of_paired_ratios(seconds[at + 1], seconds[at]);
      finding.verdict = in_both(finding.verdict, above(ratio, kBar));
      finding.evidence.push_back(fmt::format(
          "mlp-small, batch {}, {}: a step of 2 threads takes {} times as long as of 2 "
          "processes{}; slower: above {}",
          kBatch, name, text_of(ratio), unresolved_note(above(ratio, kBar), kBar), kBar));
    }
    return finding;
  });
}

// Steps of dp with an interpreter per thread, of dp with one interpreter behind a lock, and of ddp,
// all at 8 us a call that Python dispatches: a median of seconds for each build. Builds all anew:
// the place of a variant's memory makes it faster or slower for its life, by more than a lock does.
std::array<std::vector<double>, 3> interpreted_steps(Classroom& room, Job& job, const Model& model,
                                                     std::int64_t batch) {
  constexpr int kRounds = 12;
  constexpr int kBuilds = 8;
  Communicator& ranks = *job.communicator;
  const auto threads = room.devices(ranks.size());
  const auto options_with = [batch](InterpreterLock lock) {
    TrainingOptions options = timed_training(batch);
    options.interpreter = {.costs = DispatchCosts::alike(std::chrono::microseconds(8)),
                           .lock = lock};
    return options;
  };
  const std::array options{options_with(InterpreterLock::kOff), options_with(InterpreterLock::kOn)};
  std::array<std::vector<double>, 3> medians;
  for (int build = 0; build < kBuilds; ++build) {
    std::array<std::unique_ptr<dp::DataParallel>, 2> dp;
    for (int i = build; i < build + 2 && room.is_first(); ++i) {  // the order of building turns
      const auto k = static_cast<std::size_t>(i % 2);
      dp.at(k) = std::make_unique<dp::DataParallel>(*threads, model, options.at(k),
                                                    dp::DataParallelOptions{});
    }
    ddp::DistributedDataParallel ddp(*job.platform, *job.device, model, {ranks}, options[0], {});
    const auto seconds =
        interleave({step_of_first_rank(ranks, dp[0].get()), step_of_first_rank(ranks, dp[1].get()),
                    step_of_all_ranks(ranks, ddp)},
                   kRounds);
    for (std::size_t i = 0; i < medians.size(); ++i) {
      medians.at(i).push_back(stats::median(seconds[i]));
    }
  }
  return medians;
}

// The mean of a - b - half of (a - c), build by build, as a slow build is slow for all variants.
stats::Estimate mean_of(const std::vector<double>& a, const std::vector<double>& b, double half = 0,
                        const std::vector<double>& c = {}) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) {
    differences.push_back(a[i] - b[i] - (half == 0 ? 0 : half * (a[i] - c[i])));
  }
  return stats::center_of_means(differences);
}

std::string milliseconds(const stats::Estimate& seconds) {
  return fmt::format("{:.2f} ms [{:.2f} .. {:.2f}]", seconds.center * 1e3,
                     seconds.interval->low * 1e3, seconds.interval->high * 1e3);
}

// "The reason" is half of the gap at least; where dp is not slower than ddp, there is nothing to
// explain.
LessonFinding interpreter_lock(Classroom& room) {
  return room.together([&](Job& job) -> LessonFinding {
    LessonFinding finding{.verdict = LessonVerdict::kHolds};
    for (const auto& [name, batch] : {std::pair{"mlp:24x64", 64}, std::pair{"mlp:2x1024", 128}}) {
      const auto [own, shared, ddp] = interpreted_steps(room, job, *make_model(name), batch);
      const stats::Estimate whole = mean_of(shared, ddp);
      const LessonVerdict verdict = above(whole, 0) == LessonVerdict::kHolds
                                        ? above(mean_of(shared, own, 0.5, ddp), 0)
                                        : LessonVerdict::kNotDecidable;
      finding.verdict = in_both(finding.verdict, verdict);
      finding.evidence.push_back(fmt::format(
          "{}, batch {}, 8 us a call: dp minus ddp {}, of that the lock {}{}", name, batch,
          milliseconds(whole), milliseconds(mean_of(shared, own)),
          verdict == LessonVerdict::kNotDecidable ? ", not resolved against half" : ""));
    }
    return finding;
  });
}

}  // namespace

const std::vector<Lesson>& timed_lessons() {
  static constexpr std::string_view kHostOnly =
      "one launch on the host: says nothing about other launches, or GPUs";
  static const std::vector<Lesson> all{
      {"proportional-speed-up",
       "DataParallel always trains faster in proportion to the number of devices.",
       proportional_speed_up,
       {.scope = kHostOnly, .cores = 2}},
      // The two devices without a sample run nothing: two cores are enough.
      {"batch-of-two-slower",
       "A batch of 2 takes longer on four devices than on one.",
       [](Classroom& room) {
         return judged(room, *make_model("mlp-small"), {.batch = 2, .first = {.devices = 4}});
       },
       {.scope = kHostOnly, .cores = 2}},
      {"large-model-small-batch",
       "A large model with a small batch gains nothing from a second device.",
       large_model_small_batch,
       {.scope = "one launch on the host, scaled down at equal parameters per sample: says nothing "
                 "about other launches, or GPUs",
        .cores = 2}},
      {"scaling-flattens",
       "Scaling flattens beyond two or three devices.",
       scaling_flattens,
       {.scope = kHostOnly, .cores = 4}},
      // Outputs are as wide as the layers, so that there is something to gather.
      {"root-loss-bottleneck",
       "The loss on the first device is a bottleneck.",
       [](Classroom& room) {
         return judged(room, *make_model("mlp:2x1024"),
                       {.batch = 256,
                        .first = {.devices = 2},
                        .second = {.devices = 2, .loss = dp::LossPlace::kReplicas},
                        .bar = 1.1,
                        .rounds = 80});
       },
       {.scope = kHostOnly, .cores = 2}},
      {"threads-slower",
       "Threads as such are slower than processes, also without an interpreter lock.",
       threads_slower,
       {.scope = kHostOnly, .ranks = Ranks::kTwo, .cores = 2}},
      {"interpreter-lock",
       "The interpreter lock is why DataParallel is slower than DistributedDataParallel.",
       interpreter_lock,
       {.scope = "modelled, C++ has no interpreter; of Python the lock alone is judged, not what "
                 "dispatching costs; one launch on the host: says nothing about other launches, or "
                 "GPUs",
        .ranks = Ranks::kTwo,
        .cores = 2}},
  };
  return all;
}

}  // namespace tandem::bench
