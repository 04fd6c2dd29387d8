// SPDX-License-Identifier: Apache-2.0
#include "bench/step_measurements.h"

#include <algorithm>

#include "bench/abort_on_error.h"
#include "bench/achieved_flops.h"
#include "bench/gpu_watch.h"
#include "bench/launch_report.h"
#include "bench/link_account.h"
#include "bench/strategy_factory.h"
#include "common/stats/summary.h"

namespace tandem::bench {
namespace {

void set_counters(benchmark::State& state, const StepOptions& options, const Model& model,
                  const Measurement& measured) {
  const std::vector<double>& samples = measured.step_seconds;
  const auto batch = static_cast<double>(options.variant.training.global_batch);
  state.counters["median_ms"] = stats::median(samples) * 1e3;
  state.counters["samples_per_second"] = batch / stats::mean(samples);
  state.counters["samples"] = static_cast<double>(samples.size());
  state.counters["devices_used"] = measured.devices_used;
  if (model.flops_per_sample() > 0) {  // else unknown, as of a workload file that has times alone
    const double achieved = achieved_gflops(options, model, measured);
    state.counters["gflops_per_device"] = achieved;
    if (options.peak.gflops > 0) state.counters["of_peak"] = achieved / options.peak.gflops;
  }
  state.counters["dispatches_per_step"] = measured.dispatches_per_step;
  const StepWork work = step_work_of(options, model);
  state.counters["operations_per_step"] = static_cast<double>(work.operations());
  state.counters["optimizer_bytes_per_step"] = static_cast<double>(work.optimizer_bytes.value);
}

double sum_over_ranks(Communicator& ranks, double mine) {
  double sum = 0;
  for (const double theirs : ranks.all_gather(mine)) sum += theirs;
  return sum;
}

// Of processes, each rank knows its own device; of threads, one process knows all.
const Device* own_device(const Place& place, const StepOptions& options) {
  return options.place.launch == Launch::kProcesses ? place.device : nullptr;
}

Measurement measure(GoogleBenchmark& driver, Bootstrap& bootstrap, Place& place,
                    const StepOptions& options, const Model& model, Strategy& strategy) {
  Communicator& ranks = *place.communicator;
  const int steps_per_sample = std::max(1, options.free_running);
  Sampler sampler(strategy, ranks, steps_per_sample, clocks_of(place));
  Measurement measured;
  measured.warmup = sampler.warm_up(options.warmup_steps, options.warmup_time);
  measured.warnings = strategy.warnings();
  const auto of_precision =
      precision_warning(place.platform->backend(), options.variant.training.precision);
  if (of_precision) measured.warnings.push_back(*of_precision);
  measured.resolved = strategy.settled_options();
  if (ranks.rank() == 0) warn(measured.warnings);
  measured.devices_used = static_cast<int>(sum_over_ranks(ranks, strategy.devices_used()));
  if (clocks_of(place) == Clocks::kApart) measured.barrier_skew = measure_barrier_skew(ranks);
  const int samples = sample_count(options, measured.warmup);
  add_context(place, options);
  const std::string name = benchmark_name(options, place.platform->backend());
  Books books;
  LinkAccount link(*place.platform);
  const auto body = [&](benchmark::State& state) {
    const std::int64_t calls_before = strategy.dispatches();
    measured.step_seconds.clear();  // of the repetition before
    link.leave_out();
    for ([[maybe_unused]] auto iteration : state) {
      measured.step_seconds.push_back(sampler.sample().count());
      state.SetIterationTime(measured.step_seconds.back());
      link.add_sample();
      books.add_sample(strategy);
    }
    const double steps = static_cast<double>(samples) * steps_per_sample;
    const auto calls = static_cast<double>(strategy.dispatches() - calls_before);
    measured.dispatches_per_step = sum_over_ranks(ranks, calls) / steps;
    measured.lateness_seconds = link.mean_lateness(ranks, steps);
    measured.overshoot_seconds = link.largest_overshoot(ranks);
    check_lateness(measured.lateness_seconds, stats::mean(measured.step_seconds));
    set_counters(state, options, model, measured);
  };
  driver.add(name, samples, benchmark::kMillisecond, body);
  GpuWatch gpus(bootstrap, place, options.place.launch);
  gpus.before_samples();
  driver.run();
  gpus.after_samples();
  measured.phases = books.gather_phases(bootstrap);
  measured.collectives = books.gather_collectives(bootstrap);
  measured.bucket_sizes = strategy.bucket_sizes();
  measured.gpus = gpus.gather(bootstrap);
  if (ranks.rank() == 0) warn(slowdown_warnings(measured.gpus));
  measured.memory = gather_memory(bootstrap, *place.platform, own_device(place, options));
  return measured;
}

}  // namespace

Measurement measure_step(GoogleBenchmark& driver, Bootstrap& bootstrap, Place& place,
                         const StepOptions& options, const Model& model) {
  const auto strategy =
      make_strategy_together(bootstrap, place, options.place.launch, model, options.variant);
  return aborting_on_error(
      place.farewell, [&] { abort(place); },
      [&] { return measure(driver, bootstrap, place, options, model, *strategy); });
}

}  // namespace tandem::bench
