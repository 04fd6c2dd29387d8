// SPDX-License-Identifier: Apache-2.0
#include "bench/step/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>

#include "bench/job/simulated_job.h"
#include "bench/observe/profiled_samples.h"
#include "bench/observe/taken_time.h"
#include "bench/step/launch_report.h"
#include "bench/step/measured_peak.h"
#include "bench/step/strategy_factory.h"
#include "common/results/launch_record.h"
#include "common/stats/summary.h"

namespace tandem::bench {

namespace {

// PyTorch fuses causal attention on GPUs in every precision that Tandem has.
std::optional<std::string> attention_warning(const std::map<std::string, std::string>& resolved) {
  const auto found = resolved.find("attention");
  if (found == resolved.end() || !results::is_unfused(found->second)) return std::nullopt;
  return fmt::format("PyTorch computes attention on GPUs in a fused kernel, Tandem here by {}",
                     found->second);
}

constexpr int kMostSamples = 1'000'000;

void set_counters(benchmark::State& state, const StepOptions& options, const Model& model,
                  double peak_gflops, const Measurement& measured) {
  const std::vector<double>& samples = measured.step_seconds;
  const auto batch = static_cast<double>(options.variant.training.global_batch);
  state.counters["median_ms"] = stats::median(samples) * 1e3;
  state.counters["samples_per_second"] = batch / stats::mean(samples);
  state.counters["samples"] = static_cast<double>(samples.size());
  state.counters["devices_used"] = measured.devices_used;
  if (model.flops_per_sample() > 0) {  // else unknown, as in workload files of times alone
    const double achieved = achieved_gflops(options, model, measured);
    state.counters["gflops_per_device"] = achieved;
    const bool has_peak = peak_gflops > 0 && has_one_format(options, measured);
    if (has_peak) state.counters["of_peak"] = achieved / peak_gflops;
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

// The number of samples that fill `min_time` and are `min_samples` at least; the same on every
// rank, since the warm-up's figures are.
int sample_count(const SamplingOptions& options, const Warmup& warmup) {
  const double fill = Seconds(options.min_time) / warmup.per_sample;
  const int wanted = static_cast<int>(std::ceil(std::min<double>(fill, kMostSamples)));
  return std::max(options.min_samples, wanted);
}

// A benchmark of a strategy, which outlives the benchmark: warmed up here, timed when the driver
// runs.
class StepBenchmark {
 public:
  // Collective.
  StepBenchmark(Job& job, const StepOptions& options, const SamplingOptions& sampling,
                const Model& model, Strategy& strategy, const WarmupLimits& limits)
      : job_(job),
        options_(options),
        sampling_(sampling),
        model_(model),
        strategy_(strategy),
        sampler_(strategy, *job.communicator, options.steps_per_sample(), clocks_of(job),
                 [&job] { return job.platform->now(); }),
        profiled_(options.ranges, profiler_switch(job.platform->backend()),
                  options.profiled_samples) {
    Communicator& ranks = *job.communicator;
    profiled_.warm_up([&] { found_.warmup = sampler_.warm_up(limits); });
    found_.warnings = strategy.warnings();
    const auto of_precision =
        precision_warning(job.platform->backend(), options.variant.training.precision);
    if (of_precision) found_.warnings.push_back(*of_precision);
    found_.resolved = strategy.resolved_options();
    if (const auto of_attention = attention_warning(found_.resolved)) {
      found_.warnings.push_back(*of_attention);
    }
    if (ranks.rank() == 0) warn(found_.warnings);
    found_.devices_used = static_cast<int>(sum_over_ranks(ranks, strategy.devices_used()));
    if (clocks_of(job) == Clocks::kApart) found_.barrier_skew = measure_barrier_skew(ranks);
  }

  void add_to(GoogleBenchmark& driver) {
    samples_ = sample_count(sampling_, found_.warmup);
    const std::string name = benchmark_name(options_, job_.platform->backend());
    driver.add(name, samples_, benchmark::kMillisecond,
               [this](benchmark::State& state) { measure(state); });
  }

  [[nodiscard]] std::int64_t steps_taken() const { return steps_taken_; }

  // The measurement of the driver's run. Collective.
  [[nodiscard]] Measurement gathered(Bootstrap& bootstrap) {
    found_.phases = times_.gather_phases(bootstrap, job_);
    found_.collectives = times_.gather_collectives(bootstrap, job_);
    found_.bucket_sizes = strategy_.bucket_sizes();
    found_.memory = gather_memory(bootstrap, job_);
    if (!is_simulated(job_)) found_.taken = taken_.gather(bootstrap, job_.nodes);
    return found_;
  }

 private:
  void measure(benchmark::State& state) {
    Communicator& ranks = *job_.communicator;
    const std::int64_t calls_before = strategy_.dispatches();
    found_.step_seconds.clear();  // from the repetition before
    taken_.begin();
    static_cast<void>(take_path_shares(job_));  // of the warm-up
    for ([[maybe_unused]] auto iteration : state) {
      profiled_.sample([&] { found_.step_seconds.push_back(sampler_.sample().count()); });
      state.SetIterationTime(found_.step_seconds.back());
      times_.add_sample(strategy_);
    }
    taken_.end();
    found_.rests_on = take_path_shares(job_);
    const double steps = static_cast<double>(samples_) * options_.steps_per_sample();
    steps_taken_ += std::int64_t{samples_} * options_.steps_per_sample();
    const auto calls = static_cast<double>(strategy_.dispatches() - calls_before);
    found_.dispatches_per_step = sum_over_ranks(ranks, calls) / steps;
    set_counters(state, options_, model_, sampling_.peak.gflops, found_);
  }

  Job& job_;
  const StepOptions& options_;
  const SamplingOptions& sampling_;
  const Model& model_;
  Strategy& strategy_;
  Sampler sampler_;
  ProfiledSamples profiled_;
  TakenTimeWatch taken_;
  RankTimes times_;
  Measurement found_;
  int samples_ = 0;
  std::int64_t steps_taken_ = 0;  // in all repetitions, the warm-up left out
};

Measurement measure(GoogleBenchmark& driver, Bootstrap& bootstrap, Job& job,
                    const StepOptions& options, const SamplingOptions& sampling, const Model& model,
                    Strategy& strategy) {
  GpuWatch gpus(bootstrap, job);
  StepBenchmark benchmark(job, options, sampling, model, strategy,
                          settling_warmup(job, options, gpus));
  add_context(job, options);
  benchmark.add_to(driver);
  gpus.before_samples();
  driver.run();
  gpus.after_samples();
  Measurement measured = benchmark.gathered(bootstrap);
  measured.gpus = gpus.gather(bootstrap);
  measured.joules_per_step =
      joules_per_step(measured.gpus, options.job.devices, benchmark.steps_taken());
  if (job.communicator->rank() == 0) warn(slowdown_warnings(measured.gpus));
  return measured;
}

}  // namespace

WarmupLimits settling_warmup(const Job& job, const StepOptions& options, GpuWatch& gpus) {
  return warmup_limits(options, job.platform->backend(),
                       [&gpus, &job] { return gpus.is_steady(*job.communicator); });
}

Measurement measure_step(GoogleBenchmark& driver, Bootstrap& bootstrap, Job& job,
                         const StepOptions& step, const SamplingOptions& options,
                         const Model& model) {
  const auto strategy = make_strategy_together(bootstrap, job, model, step.variant);
  return aborting_on_error(
      job, [&] { return measure(driver, bootstrap, job, step, options, model, *strategy); });
}

}  // namespace tandem::bench
