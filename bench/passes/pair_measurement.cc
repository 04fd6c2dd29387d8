// SPDX-License-Identifier: Apache-2.0
#include "bench/passes/pair_measurement.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <set>

#include "bench/driver/sampler.h"
#include "bench/step/launch_report.h"
#include "bench/step/measured_peak.h"
#include "bench/step/strategy_factory.h"
#include "common/stats/comparison.h"

namespace tandem::bench {

namespace {

constexpr int kMostSets = 20;
constexpr int kFewestPairs = 5;  // pairs of a set, for the set's median to be meaningful

struct PairRun {
  Job& job;
  const StepOptions& step;
  const PairOptions& options;
  const Model& model;
};

// A side's strategy and the times of its steps. Each side has two samples in a pair, so that every
// side once takes the place whose sample gains or loses by coming later. All calls are collective.
class Side {
 public:
  Side(const PairRun& run, const Variant& variant)
      : strategy_(make_strategy(run.job, run.model, variant)),
        sampler_(*strategy_, *run.job.communicator, run.step.steps_per_sample(),
                 clocks_of(run.job)) {}

  void warm_up(const WarmupLimits& limits) { static_cast<void>(sampler_.warm_up(limits)); }

  void take() { current_ += sampler_.sample().count(); }

  void end_pair() {
    seconds_.push_back(current_ / 2);
    current_ = 0;
    forget_times(*strategy_);  // marks are read after each sample in a timed run too
  }

  // Seconds per step, by pair.
  [[nodiscard]] const std::vector<double>& seconds() const { return seconds_; }

 private:
  const std::unique_ptr<Strategy> strategy_;
  Sampler sampler_;
  double current_ = 0;
  std::vector<double> seconds_;
};

// Both sides, built and warmed up in the order in which they start a pair.
class SidesOfSet {
 public:
  SidesOfSet(const PairRun& run, bool b_first) : b_first_(b_first) {
    const Variant& a = run.step.variant;
    const Variant& b = run.options.variant;
    first_.emplace(run, b_first ? b : a);
    second_.emplace(run, b_first ? a : b);
  }

  void warm_up(const WarmupLimits& of_first, const WarmupLimits& of_second) {
    first_->warm_up(of_first);
    second_->warm_up(of_second);
  }

  // Takes steps in the order first, second, second, first.
  void take_pair() {
    for (Side* const side : {&*first_, &*second_, &*second_, &*first_}) side->take();
    first_->end_pair();
    second_->end_pair();
  }

  [[nodiscard]] const Side& a() const { return b_first_ ? *second_ : *first_; }
  [[nodiscard]] const Side& b() const { return b_first_ ? *first_ : *second_; }

 private:
  const bool b_first_;
  std::optional<Side> first_;
  std::optional<Side> second_;
};

class PairSampler {
 public:
  explicit PairSampler(const PairRun& run) : run_(run), plan_(plan_pairs(run.options.pairs)) {}

  // Builds the first set, so that a variant's error precedes all timing, and warms it up; the
  // later sides find the devices warm. Collective.
  void begin(GpuWatch& gpus) {
    build_set();
    sides_->warm_up(settling_warmup(run_.job, run_.step, gpus), brief_warmup(run_.step));
  }

  // Side b's seconds per step.
  double sample() {
    if (!sides_) begin_later_set();
    sides_->take_pair();
    const double seconds = sides_->b().seconds().back();
    if (static_cast<int>(sides_->b().seconds().size()) == set().pairs) end_set();
    return seconds;
  }

  [[nodiscard]] const std::vector<stats::PairedTimes>& sets() const { return sets_; }

 private:
  [[nodiscard]] const PairSet& set() const { return plan_[sets_.size()]; }

  void build_set() { sides_.emplace(run_, set().b_first); }

  void begin_later_set() {
    build_set();
    sides_->warm_up(brief_warmup(run_.step), brief_warmup(run_.step));
  }

  void end_set() {
    sets_.push_back({.a = sides_->a().seconds(), .b = sides_->b().seconds()});
    sides_.reset();
  }

  const PairRun run_;
  const std::vector<PairSet> plan_;
  std::optional<SidesOfSet> sides_;  // the sides of the set in progress
  std::vector<stats::PairedTimes> sets_;
};

void set_ratio_counters(benchmark::State& state, const stats::Estimate& ratio) {
  state.counters["ratio"] = ratio.center;
  if (!ratio.interval) return;
  state.counters["ratio_low"] = ratio.interval->low;
  state.counters["ratio_high"] = ratio.interval->high;
}

void report_ratio(const PairOptions& options, std::size_t sets, const stats::Estimate& ratio) {
  const std::string interval =
      ratio.interval
          ? fmt::format("95 % interval {:.4f} to {:.4f}", ratio.interval->low, ratio.interval->high)
          : "too few for an interval";
  std::cerr << fmt::format(
                   "step time with {} over step time without: {:.4f} ({} pairs in {} sets, {})",
                   options.change, ratio.center, options.pairs, sets, interval)
            << std::endl;
}

// Warns of a precision of either side in which this machine computes only slowly.
void warn_of_precisions(const PairRun& run) {
  if (run.job.communicator->rank() != 0) return;
  for (const Precision precision :
       std::set{run.step.variant.training.precision, run.options.variant.training.precision}) {
    const auto warning = precision_warning(run.job.platform->backend(), precision);
    if (warning) warn({*warning});
  }
}

void measure(GoogleBenchmark& driver, Bootstrap& bootstrap, const PairRun& run,
             PairSampler& pairs) {
  GpuWatch gpus(bootstrap, run.job);
  pairs.begin(gpus);
  stats::Estimate ratio;
  add_context(run.job, run.step);
  const std::string name = pair_name(run.step, run.options, run.job.platform->backend());
  const auto body = [&](benchmark::State& state) {
    for ([[maybe_unused]] auto iteration : state) state.SetIterationTime(pairs.sample());
    ratio = stats::ratio_of_paired_sets(pairs.sets());
    set_ratio_counters(state, ratio);
  };
  driver.add(name, run.options.pairs, benchmark::kMillisecond, body);
  driver.run();
  if (run.job.communicator->rank() == 0) report_ratio(run.options, pairs.sets().size(), ratio);
}

}  // namespace

std::vector<PairSet> plan_pairs(int pairs) {
  const int sets = std::max(1, std::min(kMostSets, pairs / kFewestPairs) / 2 * 2);
  std::vector<PairSet> plan;
  for (int set = 0; set < sets; ++set) {
    plan.push_back({.pairs = pairs / sets + (set < pairs % sets ? 1 : 0), .b_first = set % 2 == 1});
  }
  return plan;
}

std::string pair_name(const StepOptions& step, const PairOptions& options, Backend backend) {
  return fmt::format("ab/{}/against:{}", benchmark_name(step, backend), options.change);
}

void measure_pairs(GoogleBenchmark& driver, Bootstrap& bootstrap, Job& job, const StepOptions& step,
                   const PairOptions& options, const Model& model) {
  const PairRun run{job, step, options, model};
  warn_of_precisions(run);
  PairSampler pairs(run);
  aborting_on_error(job, [&] { measure(driver, bootstrap, run, pairs); });
}

}  // namespace tandem::bench
