// SPDX-License-Identifier: Apache-2.0
#include <numeric>

#include "bench/lessons/all_lessons.h"
#include "bench/lessons/classroom.h"
#include "bench/lessons/timing.h"
#include "common/model/zoo.h"
#include "common/stats/summary.h"
#include "ddp/distributed_data_parallel.h"
#include "dp/data_parallel.h"

namespace tandem::bench {
namespace {

constexpr int kRounds = 60;
constexpr auto kCost = std::chrono::microseconds(8);  // of a call that Python dispatches
constexpr double kHalf = 0.5;                         // "the reason": half of the gap at least

struct Workload {
  const char* model;
  std::int64_t batch;
  const char* kind;
};

struct Steps {                 // seconds, by round
  std::vector<double> own;     // dp, an interpreter per thread
  std::vector<double> shared;  // dp, one behind a lock
  std::vector<double> ddp;     // at the same cost per call
};

TrainingOptions with_interpreter(std::int64_t batch, InterpreterLock lock) {
  TrainingOptions options = timed_training(batch);
  options.interpreter = {.dispatch_cost = kCost, .lock = lock};
  return options;
}

Steps measure(Classroom& room, Place& place, const Workload& work) {
  Communicator& ranks = *place.communicator;
  const auto model = make_model(work.model);
  const TrainingOptions apart = with_interpreter(work.batch, InterpreterLock::kOff);
  const auto threads = room.devices(ranks.size());
  std::unique_ptr<dp::DataParallel> own;
  std::unique_ptr<dp::DataParallel> shared;
  if (room.is_first()) {
    own = std::make_unique<dp::DataParallel>(*threads, *model, apart);
    shared = std::make_unique<dp::DataParallel>(*threads, *model,
                                                with_interpreter(work.batch, InterpreterLock::kOn));
  }
  ddp::DistributedDataParallel ddp(*place.platform, *place.device, *model, ranks, apart, {});
  auto seconds =
      interleave({step_of_first_rank(ranks, own.get()), step_of_first_rank(ranks, shared.get()),
                  step_of_all_ranks(ranks, ddp)},
                 kRounds);
  return {std::move(seconds[0]), std::move(seconds[1]), std::move(seconds[2])};
}

struct Shares {
  stats::Estimate gap;     // seconds: dp with the lock minus ddp
  stats::Estimate lock;    // seconds: dp with the lock minus without
  stats::Estimate excess;  // seconds: the lock's part minus half of the gap
};

// Differences round by round: rounds are taken together, and slow ones are slow for all three.
Shares shares_of(const Steps& steps) {
  std::vector<double> gap;
  std::vector<double> lock;
  std::vector<double> excess;
  for (std::size_t i = 0; i < steps.own.size(); ++i) {
    gap.push_back(steps.shared[i] - steps.ddp[i]);
    lock.push_back(steps.shared[i] - steps.own[i]);
    excess.push_back(lock.back() - kHalf * gap.back());
  }
  return {stats::center_of_means(gap), stats::center_of_means(lock),
          stats::center_of_means(excess)};
}

std::string milliseconds(const stats::Estimate& seconds) {
  return fmt::format("{:.2f} ms [{:.2f} .. {:.2f}]", seconds.center * 1e3,
                     seconds.interval->low * 1e3, seconds.interval->high * 1e3);
}

// Where dp is not slower than ddp, there is nothing to explain.
Verdict judge(const Shares& shares) {
  if (above(shares.gap, 0) != Verdict::kHolds) return Verdict::kNotDecidable;
  return above(shares.excess, 0);
}

Finding run(Classroom& room) {
  return room.together([&](Place& place) -> Finding {
    Finding finding{.verdict = Verdict::kHolds, .scope = kModelled};
    for (const Workload& work : {Workload{"mlp:24x64", 64, "many small operations"},
                                 Workload{"mlp:2x1024", 128, "few large operations"}}) {
      const Shares shares = shares_of(measure(room, place, work));
      const Verdict verdict = judge(shares);
      // A claim about DP as such: one workload for which it is not so refutes it.
      if (verdict == Verdict::kDoesNotHold) finding.verdict = verdict;
      if (verdict == Verdict::kNotDecidable && finding.verdict == Verdict::kHolds) {
        finding.verdict = verdict;
      }
      finding.evidence.push_back(fmt::format(
          "{} ({}, batch {}), 8 us a call: dp minus ddp {}, of which the lock {}{}", work.model,
          work.kind, work.batch, milliseconds(shares.gap), milliseconds(shares.lock),
          verdict == Verdict::kNotDecidable ? ", not resolved against half" : ""));
    }
    return finding;
  });
}

}  // namespace

const Lesson kInterpreterLock{
    "interpreter-lock",
    "The interpreter lock is why DataParallel is slower than DistributedDataParallel.",
    run,
    Ranks::kTwo,
    2,
};

}  // namespace tandem::bench
