// SPDX-License-Identifier: Apache-2.0
#include "bench/step/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <sstream>

#include "bench/driver/ranks_main.h"
#include "bench/job/link_account.h"
#include "bench/observe/gpu_watch.h"
#include "bench/observe/profiled_samples.h"
#include "bench/step/launch_report.h"
#include "bench/step/measured_peak.h"
#include "bench/step/strategy_factory.h"
#include "common/stats/summary.h"

namespace tandem::bench {

namespace {

constexpr int kMostSamples = 1'000'000;

void set_counters(benchmark::State& state, const StepOptions& options, const Model& model,
                  const Measurement& measured) {
  const std::vector<double>& samples = measured.step_seconds;
  const auto batch = static_cast<double>(options.variant.training.global_batch);
  state.counters["median_ms"] = stats::median(samples) * 1e3;
  state.counters["samples_per_second"] = batch / stats::mean(samples);
  state.counters["samples"] = static_cast<double>(samples.size());
  state.counters["devices_used"] = measured.devices_used;
  if (model.flops_per_sample() > 0) {  // else unknown, as in workload files of times alone
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

// The device that this rank speaks for: its own in a job of processes; none where one process of
// threads speaks for all devices.
const Device* own_device(const Job& job, const StepOptions& options) {
  return options.job.launch == Launch::kProcesses ? job.device : nullptr;
}

// The number of samples that fill `min_time` and are `min_samples` at least; the same on every
// rank, since the warm-up's figures are.
int sample_count(const StepOptions& options, const Warmup& warmup) {
  const double fill = Seconds(options.min_time) / warmup.per_sample;
  const int wanted = static_cast<int>(std::ceil(std::min<double>(fill, kMostSamples)));
  return std::max(options.min_samples, wanted);
}

// A benchmark of a strategy, which outlives the benchmark: warmed up here, timed when the driver
// runs.
class StepBenchmark {
 public:
  // Collective.
  StepBenchmark(Job& job, const StepOptions& options, const Model& model, Strategy& strategy)
      : job_(job),
        options_(options),
        model_(model),
        strategy_(strategy),
        sampler_(strategy, *job.communicator, steps_per_sample(), clocks_of(job)),
        profiled_(options.ranges, profiler_switch(job.platform->backend()),
                  options.profiled_samples),
        link_(*job.platform) {
    Communicator& ranks = *job.communicator;
    profiled_.warm_up(
        [&] { found_.warmup = sampler_.warm_up(options.warmup_steps, options.warmup_time); });
    found_.warnings = strategy.warnings();
    const auto of_precision =
        precision_warning(job.platform->backend(), options.variant.training.precision);
    if (of_precision) found_.warnings.push_back(*of_precision);
    found_.resolved = strategy.resolved_options();
    if (ranks.rank() == 0) warn(found_.warnings);
    found_.devices_used = static_cast<int>(sum_over_ranks(ranks, strategy.devices_used()));
    if (clocks_of(job) == Clocks::kApart) found_.barrier_skew = measure_barrier_skew(ranks);
  }

  // Discards `steps` before each repetition's samples, as other benchmarks may have run meanwhile.
  void add_to(GoogleBenchmark& driver, int steps) {
    samples_ = sample_count(options_, found_.warmup);
    const std::string name = benchmark_name(options_, job_.platform->backend());
    driver.add(name, samples_, benchmark::kMillisecond, [this, steps](benchmark::State& state) {
      if (steps > 0) static_cast<void>(sampler_.warm_up(steps, Nanoseconds{0}));
      measure(state);
    });
  }

  // The measurement of the driver's run. Collective.
  [[nodiscard]] Measurement gathered(Bootstrap& bootstrap) {
    found_.phases = times_.gather_phases(bootstrap);
    found_.collectives = times_.gather_collectives(bootstrap);
    found_.bucket_sizes = strategy_.bucket_sizes();
    found_.memory = gather_memory(bootstrap, *job_.platform, own_device(job_, options_));
    return found_;
  }

 private:
  [[nodiscard]] int steps_per_sample() const { return std::max(1, options_.free_running); }

  void measure(benchmark::State& state) {
    Communicator& ranks = *job_.communicator;
    const std::int64_t calls_before = strategy_.dispatches();
    found_.step_seconds.clear();  // from the repetition before
    link_.leave_out();
    for ([[maybe_unused]] auto iteration : state) {
      profiled_.sample([&] { found_.step_seconds.push_back(sampler_.sample().count()); });
      state.SetIterationTime(found_.step_seconds.back());
      link_.add_sample();
      times_.add_sample(strategy_);
    }
    const double steps = static_cast<double>(samples_) * steps_per_sample();
    const auto calls = static_cast<double>(strategy_.dispatches() - calls_before);
    found_.dispatches_per_step = sum_over_ranks(ranks, calls) / steps;
    found_.lateness_seconds = link_.mean_lateness(ranks, steps);
    found_.overshoot_seconds = link_.largest_overshoot(ranks);
    check_lateness(found_.lateness_seconds, stats::mean(found_.step_seconds));
    set_counters(state, options_, model_, found_);
  }

  Job& job_;
  const StepOptions& options_;
  const Model& model_;
  Strategy& strategy_;
  Sampler sampler_;
  ProfiledSamples profiled_;
  LinkAccount link_;
  RankTimes times_;
  Measurement found_;
  int samples_ = 0;
};

Measurement measure(GoogleBenchmark& driver, Bootstrap& bootstrap, Job& job,
                    const StepOptions& options, const Model& model, Strategy& strategy) {
  StepBenchmark benchmark(job, options, model, strategy);
  add_context(job, options);
  benchmark.add_to(driver, 0);
  GpuWatch gpus(bootstrap, job, options.job.launch);
  gpus.before_samples();
  driver.run();
  gpus.after_samples();
  Measurement measured = benchmark.gathered(bootstrap);
  measured.gpus = gpus.gather(bootstrap);
  if (job.communicator->rank() == 0) warn(slowdown_warnings(measured.gpus));
  return measured;
}

using Strategies = std::vector<std::unique_ptr<Strategy>>;

// The strategies to be measured; null for each strategy that the filter leaves out.
Strategies make_listed(const GoogleBenchmark& driver, Bootstrap& bootstrap, Job& job,
                       const std::vector<StepOptions>& all, const Model& model) {
  Strategies strategies;
  for (const StepOptions& options : all) {
    const bool left_out = driver.leaves_out(benchmark_name(options, job.platform->backend()));
    strategies.push_back(left_out ? nullptr
                                  : make_strategy_together(bootstrap, job, options.job.launch,
                                                           model, options.variant));
  }
  return strategies;
}

void measure_all(GoogleBenchmark& driver, Job& job, const std::vector<StepOptions>& all,
                 const Model& model, const Strategies& strategies) {
  std::vector<std::unique_ptr<StepBenchmark>> benchmarks;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!strategies[i]) continue;
    benchmarks.push_back(std::make_unique<StepBenchmark>(job, all[i], model, *strategies[i]));
    benchmarks.back()->add_to(driver, kLeastWarmupSteps);
  }
  add_context(job, all.front());
  driver.run();
}

Nanoseconds read_nanoseconds(std::istream& text) {
  Nanoseconds::rep count = 0;
  text >> count;
  return Nanoseconds(count);
}

std::string text_of(const DevicePhaseTimes& device) {
  std::string text = fmt::format("{} {}", device.device, device.samples.size());
  for (const PhaseTimes& sample : device.samples) {
    text += fmt::format(" {} {}", sample.steps, sample.span.count());
    for (const Nanoseconds phase : sample.total) text += fmt::format(" {}", phase.count());
  }
  return text + '\n';
}

DevicePhaseTimes phases_from(const std::string& line) {
  std::istringstream text(line);
  DevicePhaseTimes device;
  std::size_t samples = 0;
  text >> device.device >> samples;
  device.samples.resize(samples);
  for (PhaseTimes& sample : device.samples) {
    text >> sample.steps;
    sample.span = read_nanoseconds(text);
    for (Nanoseconds& phase : sample.total) phase = read_nanoseconds(text);
  }
  return device;
}

std::string text_of(const DeviceCollectiveTimes& device) {
  std::string text = fmt::format("{} {}", device.device, device.samples.size());
  for (const std::vector<CollectiveTimes>& sample : device.samples) {
    text += fmt::format(" {}", sample.size());
    for (const CollectiveTimes& times : sample) {
      text += fmt::format(" {} {} {}", times.size.value, times.total.count(), times.steps);
    }
  }
  return text + '\n';
}

DeviceCollectiveTimes collectives_from(const std::string& line) {
  std::istringstream text(line);
  DeviceCollectiveTimes device;
  std::size_t samples = 0;
  text >> device.device >> samples;
  device.samples.resize(samples);
  for (std::vector<CollectiveTimes>& sample : device.samples) {
    std::size_t collectives = 0;
    text >> collectives;
    sample.resize(collectives);
    for (CollectiveTimes& times : sample) {
      text >> times.size.value;
      times.total = read_nanoseconds(text);
      text >> times.steps;
    }
  }
  return device;
}

// The times of a device, which begins with the device's first sample.
template <class Book>
Book& books_of(std::vector<Book>& all, int device) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Book& b) { return b.device == device; });
  return found != all.end() ? *found : all.emplace_back(Book{.device = device, .samples = {}});
}

// Writes a line per device and rank, in rank order. Ranks have a device each, and on several nodes
// count the devices of their own node: the job's devices are counted by rank.
template <class Book, class Read>
std::vector<Book> gather(Bootstrap& bootstrap, const std::vector<Book>& mine, Read read) {
  std::string text;
  for (const Book& book : mine) text += text_of(book);
  std::vector<Book> all;
  const std::vector<std::string> by_rank = bootstrap.all_gather(text);
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    std::istringstream lines(by_rank[rank]);
    for (std::string line; std::getline(lines, line);) {
      all.push_back(read(line));
      if (by_rank.size() > 1) all.back().device = static_cast<int>(rank);
    }
  }
  return all;
}

}  // namespace

Measurement measure_step(GoogleBenchmark& driver, Bootstrap& bootstrap, Job& job,
                         const StepOptions& options, const Model& model) {
  const auto strategy =
      make_strategy_together(bootstrap, job, options.job.launch, model, options.variant);
  return aborting_on_error(
      job.rank_exit, [&] { abort(job); },
      [&] { return measure(driver, bootstrap, job, options, model, *strategy); });
}

void measure_listed(GoogleBenchmark& driver, Bootstrap& bootstrap, Job& job,
                    const std::vector<StepOptions>& all, const Model& model) {
  const Strategies strategies = make_listed(driver, bootstrap, job, all, model);
  aborting_on_error(
      job.rank_exit, [&] { abort(job); },
      [&] { measure_all(driver, job, all, model, strategies); });
}

// Adds nothing for devices with phases off.
void RankTimes::add_sample(Strategy& strategy) {
  for (const DeviceTimes& sample : strategy.collect_phases()) {
    if (sample.times.steps == 0) continue;
    books_of(phases_, sample.device).samples.push_back(sample.times);
  }
  for (DeviceCollectives& sample : strategy.collect_collectives()) {
    if (sample.collectives.empty()) continue;
    books_of(collectives_, sample.device).samples.push_back(std::move(sample.collectives));
  }
}

std::vector<DevicePhaseTimes> RankTimes::gather_phases(Bootstrap& bootstrap) const {
  return gather(bootstrap, phases_, phases_from);
}

std::vector<DeviceCollectiveTimes> RankTimes::gather_collectives(Bootstrap& bootstrap) const {
  return gather(bootstrap, collectives_, collectives_from);
}

std::vector<MemoryUse> gather_memory(Bootstrap& bootstrap, Platform& platform, const Device* mine) {
  std::ostringstream text;
  const auto note = [&text](const Device& device) {
    const MemoryUse use = device.memory();
    text << use.capacity.value << ' ' << use.used.value << ' ' << use.peak.value << '\n';
  };
  if (mine != nullptr) {
    note(*mine);  // a process may not hold the other ranks' devices
  } else {
    for (int i = 0; i < platform.device_count(); ++i) note(platform.device(i));
  }
  std::vector<MemoryUse> all;
  for (const std::string& theirs : bootstrap.all_gather(text.str())) {
    std::istringstream stream(theirs);
    for (MemoryUse use; stream >> use.capacity.value >> use.used.value >> use.peak.value;) {
      all.push_back(use);
    }
  }
  return all;
}

}  // namespace tandem::bench
