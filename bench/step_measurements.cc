// SPDX-License-Identifier: Apache-2.0
#include "bench/step_measurements.h"

#include <algorithm>
#include <iostream>
#include <optional>
#include <set>

#include "bench/abort_on_error.h"
#include "bench/achieved_flops.h"
#include "bench/launch_report.h"
#include "bench/link_account.h"
#include "bench/strategy_factory.h"
#include "common/stats/paired.h"
#include "common/stats/summary.h"

namespace tandem::bench {
namespace {

void add_context(const Place& place, const StepOptions& options) {
  add_context(place);
  GoogleBenchmark::add_context("tandem_mode",
                               options.free_running > 0 ? "free-running" : "synchronous");
}

void set_counters(benchmark::State& state, const StepOptions& options, const Model& model,
                  const Measurement& measured) {
  const std::vector<double>& samples = measured.step_seconds;
  const auto batch = static_cast<double>(options.variant.training.global_batch);
  state.counters["median_ms"] = stats::median(samples) * 1e3;
  state.counters["samples_per_second"] = batch / stats::mean(samples);
  state.counters["samples"] = static_cast<double>(samples.size());
  state.counters["devices_used"] = measured.devices_used;
  state.counters["gflops_per_device"] = achieved_gflops(options, model, measured);
  state.counters["dispatches_per_step"] = measured.dispatches_per_step;
}

double sum_over_ranks(Communicator& ranks, double mine) {
  double sum = 0;
  for (const double theirs : ranks.all_gather(mine)) sum += theirs;
  return sum;
}

void warn(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    std::cerr << fmt::format("step_bench: warning: {}\n", warning);
  }
}

// Of processes, each rank knows its own device; of threads, one process knows all.
const Device* own_device(const Place& place, const StepOptions& options) {
  return options.place.launch == Launch::kProcesses ? place.device : nullptr;
}

struct Sides {
  Strategy& a;
  Strategy& b;
};

// Takes samples of two strategies in turn.
class PairSampler {
 public:
  PairSampler(Place& place, Sides sides, const StepOptions& options)
      : ranks_(*place.communicator),
        sides_(sides),
        steps_(std::max(1, options.free_running)),
        a_(sides.a, ranks_, steps_, clocks_of(place)),
        b_(sides.b, ranks_, steps_, clocks_of(place)) {
    static_cast<void>(a_.warm_up(options.warmup_steps, options.warmup_time));
    static_cast<void>(b_.warm_up(options.warmup_steps, options.warmup_time));
    link_.emplace(*place.platform);
  }

  // Of side b, in seconds. A B B A: whatever the one who goes second gains or loses by it, both do
  // once.
  double sample() {
    const double first_a = take(a_);
    const double first_b = take(b_);
    const double second_b = take(b_);
    const double second_a = take(a_);
    seconds_a_.push_back((first_a + second_a) / 2);
    seconds_b_.push_back((first_b + second_b) / 2);
    // As in a timed run: marks are read after each sample and used again for the next.
    forget_times(sides_.a);
    forget_times(sides_.b);
    return seconds_b_.back();
  }

  [[nodiscard]] stats::Estimate ratio() const {
    return stats::median_of_paired_ratios(seconds_a_, seconds_b_);
  }

  // Collective: the mean lateness of both sides' steps, against a step of the faster one.
  void check_link() {
    const auto steps = static_cast<double>(4 * seconds_a_.size()) * steps_;
    check_lateness(link_->mean_lateness(ranks_, steps),
                   std::min(stats::mean(seconds_a_), stats::mean(seconds_b_)));
  }

 private:
  double take(Sampler& sampler) {
    const double seconds = sampler.sample().count();
    link_->add_sample();
    return seconds;
  }

  Communicator& ranks_;
  const Sides sides_;
  const int steps_;  // per sample
  Sampler a_;
  Sampler b_;
  std::optional<LinkAccount> link_;  // since the warm-up
  std::vector<double> seconds_a_;
  std::vector<double> seconds_b_;
};

void set_ratio_counters(benchmark::State& state, const stats::Estimate& ratio) {
  state.counters["ratio"] = ratio.center;
  if (!ratio.interval) return;
  state.counters["ratio_low"] = ratio.interval->low;
  state.counters["ratio_high"] = ratio.interval->high;
}

void report_ratio(const StepOptions& options, const stats::Estimate& ratio) {
  const std::string interval =
      ratio.interval
          ? fmt::format("95 % interval {:.4f} to {:.4f}", ratio.interval->low, ratio.interval->high)
          : "too few pairs for an interval";
  std::cerr << fmt::format(
                   "step time with {} over step time without: {:.4f} (median of {} pairs, {})",
                   options.ab, ratio.center, ratio.launches, interval)
            << std::endl;
}

}  // namespace

Measurement measure_step(GoogleBenchmark& driver, Bootstrap& bootstrap, Place& place,
                         const StepOptions& options, const Model& model) {
  const auto strategy =
      make_strategy_together(bootstrap, place, options.place.launch, model, options.variant);
  Communicator& ranks = *place.communicator;
  const AbortOnError tells_others(place);
  const int steps_per_sample = std::max(1, options.free_running);
  Sampler sampler(*strategy, ranks, steps_per_sample, clocks_of(place));
  Measurement measured;
  measured.warmup = sampler.warm_up(options.warmup_steps, options.warmup_time);
  measured.warnings = strategy->warnings();
  const auto of_precision =
      precision_warning(place.platform->backend(), options.variant.training.precision);
  if (of_precision) measured.warnings.push_back(*of_precision);
  if (ranks.rank() == 0) warn(measured.warnings);
  measured.devices_used = static_cast<int>(sum_over_ranks(ranks, strategy->devices_used()));
  if (clocks_of(place) == Clocks::kApart) measured.barrier_skew = measure_barrier_skew(ranks);
  const int samples = sample_count(options, measured.warmup);
  add_context(place, options);
  const std::string name = cell_of(options, place.platform->backend()).name();
  Books books;
  LinkAccount link(*place.platform);
  const auto body = [&](benchmark::State& state) {
    const std::int64_t calls_before = strategy->dispatches();
    for ([[maybe_unused]] auto iteration : state) {
      measured.step_seconds.push_back(sampler.sample().count());
      state.SetIterationTime(measured.step_seconds.back());
      link.add_sample();
      books.add_sample(*strategy);
    }
    const double steps = static_cast<double>(samples) * steps_per_sample;
    const auto calls = static_cast<double>(strategy->dispatches() - calls_before);
    measured.dispatches_per_step = sum_over_ranks(ranks, calls) / steps;
    measured.lateness_seconds = link.mean_lateness(ranks, steps);
    measured.overshoot_seconds = link.largest_overshoot(ranks);
    check_lateness(measured.lateness_seconds, stats::mean(measured.step_seconds));
    set_counters(state, options, model, measured);
  };
  driver.add(name, samples, benchmark::kMillisecond, body);
  driver.run();
  measured.phases = books.gather_phases(bootstrap);
  measured.collectives = books.gather_collectives(bootstrap);
  measured.bucket_sizes = strategy->bucket_sizes();
  measured.memory = gather_memory(bootstrap, *place.platform, own_device(place, options));
  return measured;
}

void measure_pairs(GoogleBenchmark& driver, Place& place, const StepOptions& options,
                   const Model& model) {
  const auto a = make_strategy(place, options.place.launch, model, options.variant);
  const auto b = make_strategy(place, options.place.launch, model, *options.ab_variant);
  const AbortOnError tells_others(place);
  for (const Precision precision :
       std::set{options.variant.training.precision, options.ab_variant->training.precision}) {
    const auto warning = precision_warning(place.platform->backend(), precision);
    if (warning && place.communicator->rank() == 0) warn({*warning});
  }
  PairSampler pairs(place, {*a, *b}, options);
  stats::Estimate ratio;
  add_context(place, options);
  const std::string name = fmt::format(
      "ab/{}/against:{}", cell_of(options, place.platform->backend()).name(), options.ab);
  const auto body = [&](benchmark::State& state) {
    for ([[maybe_unused]] auto iteration : state) state.SetIterationTime(pairs.sample());
    ratio = pairs.ratio();
    set_ratio_counters(state, ratio);
  };
  driver.add(name, options.pairs, benchmark::kMillisecond, body);
  driver.run();
  pairs.check_link();
  if (place.communicator->rank() == 0) report_ratio(options, ratio);
}

}  // namespace tandem::bench
