// SPDX-License-Identifier: Apache-2.0
#include "bench/step_measurements.h"

#include <algorithm>
#include <iostream>

#include "bench/launch_report.h"
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

void set_counters(benchmark::State& state, const StepOptions& options,
                  const std::vector<double>& samples) {
  const auto batch = static_cast<double>(options.variant.training.global_batch);
  state.counters["median_ms"] = stats::median(samples) * 1e3;
  state.counters["samples_per_second"] = batch / stats::mean(samples);
  state.counters["samples"] = static_cast<double>(samples.size());
}

// Of processes, each rank knows its own device; of threads, one process knows all.
const Device* own_device(const Place& place, const StepOptions& options) {
  return options.place.launch == Launch::kProcesses ? place.device : nullptr;
}

}  // namespace

Measurement measure_step(GoogleBenchmark& driver, Bootstrap& bootstrap, Place& place,
                         const StepOptions& options, const Model& model) {
  const auto strategy = make_strategy(place, options.place.launch, model, options.variant);
  Sampler sampler(*strategy, *place.communicator, std::max(1, options.free_running));
  Measurement measured;
  measured.warmup = sampler.warm_up(options.warmup_steps, options.warmup_time);
  add_context(place, options);
  const std::string name = cell_of(options, place.platform->backend()).name();
  PhaseBooks books;
  const auto body = [&](benchmark::State& state) {
    for ([[maybe_unused]] auto iteration : state) {
      measured.step_seconds.push_back(sampler.sample().count());
      state.SetIterationTime(measured.step_seconds.back());
      books.add(strategy->collect_phases());
    }
    set_counters(state, options, measured.step_seconds);
  };
  driver.add(name, sample_count(options, measured.warmup), benchmark::kMillisecond, body);
  driver.run();
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
