// SPDX-License-Identifier: Apache-2.0
#include "bench/step_measurements.h"

#include <algorithm>
#include <iostream>

#include "bench/launch_report.h"
#include "bench/strategy_factory.h"
#include "common/base/units.h"
#include "common/stats/paired.h"
#include "common/stats/summary.h"

namespace tandem::bench {
namespace {

void add_context(const Place& place, const StepOptions& options) {
  add_context(place);
  GoogleBenchmark::add_context("tandem_mode",
                               options.free_running > 0 ? "free-running" : "synchronous");
}

void set_counters(benchmark::State& state, const StepOptions& options,
                  const Measurement& measured) {
  const std::vector<double>& samples = measured.step_seconds;
  const auto batch = static_cast<double>(options.variant.training.global_batch);
  state.counters["median_ms"] = stats::median(samples) * 1e3;
  state.counters["samples_per_second"] = batch / stats::mean(samples);
  state.counters["samples"] = static_cast<double>(samples.size());
  state.counters["devices_used"] = measured.devices_used;
  state.counters["dispatches_per_step"] = measured.dispatches_per_step;
}

double sum_over_ranks(Communicator& ranks, double mine) {
  double sum = 0;
  for (const double theirs : ranks.all_gather(mine)) sum += theirs;
  return sum;
}

double largest_over_ranks(Communicator& ranks, double mine) {
  const std::vector<double> all = ranks.all_gather(mine);
  return *std::max_element(all.begin(), all.end());
}

// The link model's duration of a step is only right while the machine keeps up with it.
constexpr double kMostLateness = 0.01;

void check_lateness(const Measurement& measured) {
  const double step = stats::mean(measured.step_seconds);
  if (measured.lateness_seconds <= kMostLateness * step) return;
  fail(ErrorKind::kFailure,
       "the link is faster than this machine's memory: modelled transfers ended {} late in a step "
       "of {}, and more than 1 % is no model of that link any more: use a slower --link",
       tandem::to_string(Seconds(measured.lateness_seconds)), tandem::to_string(Seconds(step)));
}

// Of processes, each rank knows its own device; of threads, one process knows all.
const Device* own_device(const Place& place, const StepOptions& options) {
  return options.place.launch == Launch::kProcesses ? place.device : nullptr;
}

}  // namespace

Measurement measure_step(GoogleBenchmark& driver, Bootstrap& bootstrap, Place& place,
                         const StepOptions& options, const Model& model) {
  const auto strategy = make_strategy(place, options.place.launch, model, options.variant);
  Communicator& ranks = *place.communicator;
  const int steps_per_sample = std::max(1, options.free_running);
  Sampler sampler(*strategy, ranks, steps_per_sample);
  Measurement measured;
  measured.warmup = sampler.warm_up(options.warmup_steps, options.warmup_time);
  measured.warnings = strategy->warnings();
  measured.devices_used = static_cast<int>(sum_over_ranks(ranks, strategy->devices_used()));
  const int samples = sample_count(options, measured.warmup);
  add_context(place, options);
  const std::string name = cell_of(options, place.platform->backend()).name();
  PhaseBooks books;
  Nanoseconds late{0};
  static_cast<void>(place.platform->take_lateness());  // of the warm-up
  const auto body = [&](benchmark::State& state) {
    const std::int64_t calls_before = strategy->dispatches();
    for ([[maybe_unused]] auto iteration : state) {
      measured.step_seconds.push_back(sampler.sample().count());
      state.SetIterationTime(measured.step_seconds.back());
      late += place.platform->take_lateness().on_path;
      books.add(strategy->collect_phases());
    }
    const double steps = static_cast<double>(samples) * steps_per_sample;
    const auto calls = static_cast<double>(strategy->dispatches() - calls_before);
    measured.dispatches_per_step = sum_over_ranks(ranks, calls) / steps;
    measured.lateness_seconds = largest_over_ranks(ranks, Seconds(late).count() / steps);
    set_counters(state, options, measured);
  };
  driver.add(name, samples, benchmark::kMillisecond, body);
  driver.run();
  check_lateness(measured);
  measured.phases = books.gather(bootstrap);
  measured.bucket_sizes = strategy->bucket_sizes();
  measured.memory = gather_memory(bootstrap, *place.platform, own_device(place, options));
  return measured;
}

void measure_pairs(GoogleBenchmark& driver, Place& place, const StepOptions& options,
                   const Model& model) {
  const auto a = make_strategy(place, options.place.launch, model, options.variant);
  const auto b = make_strategy(place, options.place.launch, model, *options.ab_variant);
  Sampler sampler_a(*a, *place.communicator, std::max(1, options.free_running));
  Sampler sampler_b(*b, *place.communicator, std::max(1, options.free_running));
  static_cast<void>(sampler_a.warm_up(options.warmup_steps, options.warmup_time));
  static_cast<void>(sampler_b.warm_up(options.warmup_steps, options.warmup_time));
  std::vector<double> seconds_a;
  std::vector<double> seconds_b;
  stats::Estimate ratio;
  add_context(place, options);
  const std::string name = fmt::format(
      "ab/{}/against:{}", cell_of(options, place.platform->backend()).name(), options.ab);
  const auto body = [&](benchmark::State& state) {
    for ([[maybe_unused]] auto iteration : state) {
      // A B B A: whatever the one who goes second gains or loses by it, both do once.
      const double first_a = sampler_a.sample().count();
      const double first_b = sampler_b.sample().count();
      const double second_b = sampler_b.sample().count();
      const double second_a = sampler_a.sample().count();
      seconds_a.push_back((first_a + second_a) / 2);
      seconds_b.push_back((first_b + second_b) / 2);
      state.SetIterationTime(seconds_b.back());
      // As in a timed run: marks are read after each sample and used again for the next.
      static_cast<void>(a->collect_phases());
      static_cast<void>(b->collect_phases());
    }
    ratio = stats::median_of_paired_ratios(seconds_a, seconds_b);
    state.counters["ratio"] = ratio.center;
    if (ratio.interval) {
      state.counters["ratio_low"] = ratio.interval->low;
      state.counters["ratio_high"] = ratio.interval->high;
    }
  };
  driver.add(name, options.pairs, benchmark::kMillisecond, body);
  driver.run();
  if (place.communicator->rank() != 0) return;
  const std::string interval =
      ratio.interval
          ? fmt::format("95 % interval {:.4f} to {:.4f}", ratio.interval->low, ratio.interval->high)
          : "too few pairs for an interval";
  std::cerr << fmt::format(
                   "step time with {} over step time without: {:.4f} (median of {} pairs, {})",
                   options.ab, ratio.center, ratio.launches, interval)
            << std::endl;
}

}  // namespace tandem::bench
