// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "bench/lessons/classroom.h"
#include "bench/lessons/run_lessons.h"
#include "bench/lessons/timing.h"
#include "common/model/zoo.h"
#include "common/stats/summary.h"
#include "ddp/distributed_data_parallel.h"
#include "dp/data_parallel.h"

namespace tandem::bench {
namespace interpreter_lock {

constexpr int kRounds = 12;  // rounds per build
constexpr std::size_t kBuilds = 8;
constexpr auto kCost = std::chrono::microseconds(8);  // of a call that Python dispatches
constexpr double kHalf = 0.5;                         // "the reason": half of the gap at least
constexpr const char* kLockAlone =
    "modelled, C++ has no interpreter; of Python the lock alone is judged, what dispatching costs "
    "stands beside it; one launch on the host: says nothing about other launches, or GPUs";

struct ModelAndBatch {
  const char* model;
  std::int64_t batch;
  const char* kind;
};

struct StepMedians {              // medians of seconds, by build
  std::vector<double> plain;      // dp without an interpreter
  std::vector<double> plain_ddp;  // ddp without an interpreter
  std::vector<double> own;        // dp, an interpreter per thread
  std::vector<double> shared;     // dp, one interpreter behind a lock
  std::vector<double> ddp;        // ddp, at the same cost per call
};

TrainingOptions with_interpreter(std::int64_t batch, InterpreterLock lock) {
  TrainingOptions options = timed_training(batch);
  options.interpreter = {.costs = DispatchCosts::alike(kCost), .lock = lock};
  return options;
}

// Builds all five variants anew: the place of a variant's memory makes the variant faster or slower
// for its life, by more than a lock does. The order of building turns from one call to the next.
std::vector<std::vector<double>> measure_build(Classroom& room, Job& job,
                                               const ModelAndBatch& trained, std::size_t turn) {
  Communicator& ranks = *job.communicator;
  const auto model = make_model(trained.model);
  const std::array options{timed_training(trained.batch),
                           with_interpreter(trained.batch, InterpreterLock::kOff),
                           with_interpreter(trained.batch, InterpreterLock::kOn)};
  const auto threads = room.devices(ranks.size());
  std::array<std::unique_ptr<dp::DataParallel>, 3> dp;
  std::array<std::unique_ptr<ddp::DistributedDataParallel>, 2> ddp;
  for (std::size_t i = turn; i < turn + dp.size() && room.is_first(); ++i) {
    const std::size_t k = i % dp.size();
    dp.at(k) = std::make_unique<dp::DataParallel>(*threads, *model, options.at(k));
  }
  for (std::size_t i = turn; i < turn + ddp.size(); ++i) {
    const std::size_t k = i % ddp.size();
    ddp.at(k) = std::make_unique<ddp::DistributedDataParallel>(
        *job.platform, *job.device, *model, ddp::RankCommunicators{ranks}, options.at(k),
        ddp::ReducerOptions{});
  }
  return interleave({step_of_first_rank(ranks, dp[0].get()), step_of_first_rank(ranks, dp[1].get()),
                     step_of_first_rank(ranks, dp[2].get()), step_of_all_ranks(ranks, *ddp[0]),
                     step_of_all_ranks(ranks, *ddp[1])},
                    kRounds);
}

StepMedians measure(Classroom& room, Job& job, const ModelAndBatch& trained) {
  StepMedians steps;
  for (std::size_t build = 0; build < kBuilds; ++build) {
    const auto seconds = measure_build(room, job, trained, build);
    steps.plain.push_back(stats::median(seconds[0]));
    steps.own.push_back(stats::median(seconds[1]));
    steps.shared.push_back(stats::median(seconds[2]));
    steps.plain_ddp.push_back(stats::median(seconds[3]));
    steps.ddp.push_back(stats::median(seconds[4]));
  }
  return steps;
}

// Seconds; the whole is the sum of plain, dispatch and lock.
struct Gap {
  stats::Estimate whole;     // dp with the lock minus ddp
  stats::Estimate plain;     // dp minus ddp, nothing dispatched from Python
  stats::Estimate dispatch;  // dp's cost of dispatched calls beyond ddp's
  stats::Estimate lock;      // dp with the lock minus without
  stats::Estimate excess;    // the lock's part minus half of the whole
};

std::vector<double> minus(const std::vector<double>& a, const std::vector<double>& b,
                          double factor = 1) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - factor * b[i]);
  return differences;
}

// Differences are taken build by build: rounds of one build are taken together, and a slow build is
// slow for all variants.
Gap gap_of(const StepMedians& steps) {
  const auto whole = minus(steps.shared, steps.ddp);
  const auto plain = minus(steps.plain, steps.plain_ddp);
  const auto dispatch = minus(minus(steps.own, steps.ddp), plain);
  const auto lock = minus(steps.shared, steps.own);
  return {stats::center_of_means(whole), stats::center_of_means(plain),
          stats::center_of_means(dispatch), stats::center_of_means(lock),
          stats::center_of_means(minus(lock, whole, kHalf))};
}

std::string milliseconds(const stats::Estimate& seconds) {
  return fmt::format("{:.2f} ms [{:.2f} .. {:.2f}]", seconds.center * 1e3,
                     seconds.interval->low * 1e3, seconds.interval->high * 1e3);
}

// Judges the gap; where dp is not slower than ddp, there is nothing to explain.
LessonVerdict judge(const Gap& gap) {
  if (above(gap.whole, 0) != LessonVerdict::kHolds) return LessonVerdict::kNotDecidable;
  return above(gap.excess, 0);
}

std::vector<std::string> evidence_of(const ModelAndBatch& trained, const Gap& gap,
                                     LessonVerdict verdict) {
  return {
      fmt::format("{} ({}, batch {}), 8 us a call: dp minus ddp {}", trained.model, trained.kind,
                  trained.batch, milliseconds(gap.whole)),
      fmt::format("  with no interpreter at all {}; what the calls themselves add to dp "
                  "beyond what they add to ddp {}",
                  milliseconds(gap.plain), milliseconds(gap.dispatch)),
      fmt::format("  the lock on top of that {}{}", milliseconds(gap.lock),
                  verdict == LessonVerdict::kNotDecidable ? ", not resolved against half" : "")};
}

LessonFinding run(Classroom& room) {
  return room.together([&](Job& job) -> LessonFinding {
    LessonFinding finding{.verdict = LessonVerdict::kHolds, .scope = kLockAlone};
    for (const ModelAndBatch& trained :
         {ModelAndBatch{"mlp:24x64", 64, "many small operations"},
          ModelAndBatch{"mlp:2x1024", 128, "few large operations"}}) {
      const Gap gap = gap_of(measure(room, job, trained));
      const LessonVerdict verdict = judge(gap);
      finding.verdict = in_both(finding.verdict, verdict);
      for (std::string& line : evidence_of(trained, gap, verdict)) {
        finding.evidence.push_back(std::move(line));
      }
    }
    return finding;
  });
}

}  // namespace interpreter_lock

const Lesson kInterpreterLock{
    "interpreter-lock",
    "The interpreter lock is why DataParallel is slower than DistributedDataParallel.",
    interpreter_lock::run,
    Ranks::kTwo,
    2,
};

}  // namespace tandem::bench
