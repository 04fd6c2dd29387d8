// SPDX-License-Identifier: Apache-2.0
#include "bench/passes/traced_pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <iterator>
#include <utility>

#include "bench/driver/sampler.h"
#include "bench/step/launch_report.h"
#include "bench/step/strategy_factory.h"
#include "common/base/this_process.h"
#include "common/results/files.h"
#include "common/stats/summary.h"
#include "common/timeline/clocks.h"
#include "common/timeline/trace_json.h"
#include "common/timeline/tracks.h"
#include "common/trace/timeline_recorder.h"

namespace tandem::bench {
namespace {

using timeline::ClockFit;
using timeline::SliceKind;

constexpr int kRoundTrips = 51;

// The spans of the thread that measures.
class HarnessTrack {
 public:
  explicit HarnessTrack(Platform& platform)
      : platform_(platform), track_{.device = timeline::kNoDevice, .name = "harness"} {}

  template <class Work>
  void add(const std::string& name, const Work& work) {
    const Nanoseconds begin = now();
    work();
    track_.slices.push_back(
        {.kind = SliceKind::kHarness, .name = name, .begin = begin, .end = now()});
  }

  [[nodiscard]] timeline::Track take() {
    sort_slices(track_);
    return std::move(track_);
  }

 private:
  [[nodiscard]] Nanoseconds now() { return platform_.now().time_since_epoch(); }

  Platform& platform_;
  timeline::Track track_;
};

// Takes a sample as Sampler does, exchange of times included: how ranks come to a barrier decides
// how ranks leave the barrier.
void take_sample(Strategy& strategy, Communicator& ranks, int steps, HarnessTrack& harness) {
  harness.add("barrier", [&] { ranks.barrier(); });
  harness.add("sample", [&] {
    harness.add("enqueue", [&] {
      for (int step = 0; step < steps; ++step) strategy.step();
    });
    harness.add("wait", [&] { strategy.synchronize(); });
  });
  harness.add("exchange", [&] {
    for (int time = 0; time < 2; ++time) static_cast<void>(ranks.all_gather(0.0));
  });
}

timeline::ClockReading read_clock_of(Communicator& ranks) {
  return timeline::read_clock([&](double mine) { return ranks.all_gather(mine); },
                              [] { return Clock::now().time_since_epoch(); }, kRoundTrips);
}

// Records this rank's steps, on rank 0's clock.
timeline::Process record_steps(Job& job, const StepOptions& options, int samples,
                               Strategy& strategy, TimelineRecorder& recorder) {
  Communicator& ranks = *job.communicator;
  // The GPUs are watched before the warm-up, which is slowed down by the watching too.
  if (job.platform->backend() == Backend::kCuda) recorder.watch_gpus();
  Sampler sampler(strategy, ranks, options.steps_per_sample(), clocks_of(job),
                  [&job] { return job.platform->now(); });
  static_cast<void>(sampler.warm_up(brief_warmup(options)));
  const bool is_apart = clocks_of(job) == Clocks::kApart;
  HarnessTrack harness(*job.platform);
  const auto before = is_apart ? read_clock_of(ranks) : timeline::ClockReading{};
  recorder.start();
  for (int sample = 0; sample < samples; ++sample) {
    take_sample(strategy, ranks, options.steps_per_sample(), harness);
  }
  recorder.stop();
  const auto after = is_apart ? read_clock_of(ranks) : timeline::ClockReading{};
  timeline::Process mine = recorder.collect();
  mine.tracks.insert(mine.tracks.begin(), harness.take());
  mine.rank = ranks.rank();
  mine.host = is_simulated(job) ? job.simulated_hardware : host_name();
  if (is_apart && job.nodes.node_of(ranks.rank()) != 0) align(mine, ClockFit(before, after));
  return mine;
}

// The simulated ranks that one process ran, by class. A class's device has its number.
std::vector<timeline::Process> by_class(timeline::Process all,
                                        const std::vector<RankClass>& classes) {
  std::vector<timeline::Process> processes;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    timeline::Process one{.rank = classes[i].first, .host = all.host};
    if (classes[i].count > 1) one.count = classes[i].count;
    const auto is_here = [i](int device) {
      return device == static_cast<int>(i) || (i == 0 && device == timeline::kNoDevice);
    };
    for (timeline::Track& track : all.tracks) {
      if (!is_here(track.device)) continue;
      if (track.device != timeline::kNoDevice) track.device = one.rank;
      one.tracks.push_back(std::move(track));
    }
    for (timeline::Bucket& bucket : all.buckets) {
      if (!is_here(bucket.device)) continue;
      one.buckets.push_back(bucket);
      one.buckets.back().device = one.rank;
    }
    processes.push_back(std::move(one));
  }
  return processes;
}

timeline::Process recorded(Bootstrap& bootstrap, Job& job, const StepOptions& options,
                           const Model& model, int samples) {
  TimelineRecorder recorder;
  Variant variant = options.variant;
  variant.training.phases.observers.push_back(&recorder);
  // The recorder's own marks stand where the timers' marks stood in the measured samples.
  variant.training.phases.timing = PhaseTiming::kOff;
  const auto strategy = make_strategy_together(bootstrap, job, model, variant);
  return aborting_on_error(
      job, [&] { return record_steps(job, options, samples, *strategy, recorder); });
}

// The CUDA times of all processes: each process has its own reason for having no records.
std::string cuda_times_of(const std::vector<timeline::Process>& processes) {
  for (const timeline::Process& process : processes) {
    if (process.cuda_times != "cupti") return process.cuda_times;
  }
  return "cupti";
}

std::string device_times_of(Backend backend, const std::string& cuda_times) {
  if (backend == Backend::kSimulated) return "simulated";
  if (backend == Backend::kHost) return "of the workers, by that clock";
  if (cuda_times == "cupti") return "of GPU events, moved to between CUPTI's records of what ran";
  return "of GPU events, by one that was waited for at the end";
}

std::string clock_of(const Job& job) {
  if (is_simulated(job)) return "virtual time, from the simulation's start";
  if (clocks_of(job) == Clocks::kCommon) return "CLOCK_MONOTONIC of the node, which all ranks read";
  return fmt::format(
      "CLOCK_MONOTONIC of rank 0's node; other ranks' by {} round trips before and after, taken to "
      "go evenly between",
      kRoundTrips);
}

// The processes' timelines: of simulated ranks of equal work one stands for all.
std::vector<std::string> gathered(Bootstrap& bootstrap, const Job& job, const std::string& mine) {
  if (is_simulated(job)) return {mine};
  return bootstrap.all_gather(mine);
}

// Names and values of what was traced and where: the cell's options, and strategy, launch, model
// and so on.
std::map<std::string, std::string> facts_of(const Job& job, const StepOptions& options,
                                            const std::vector<timeline::Process>& processes) {
  const results::Cell cell = cell_of(options, job.platform->backend());
  std::map<std::string, std::string> facts = cell.options;
  facts["strategy"] = cell.strategy;
  facts["launch"] = cell.launch;
  facts["model"] = cell.model;
  facts["batch"] = std::to_string(cell.global_batch);
  facts["devices"] = std::to_string(cell.devices);
  facts["backend"] = cell.backend;
  facts["oversubscribed"] = job.oversubscribed ? "yes" : "no";
  facts["clock"] = clock_of(job);
  const std::string cuda_times = cuda_times_of(processes);
  if (job.platform->backend() == Backend::kCuda) facts["cuda_times"] = cuda_times;
  facts["device_times"] = device_times_of(job.platform->backend(), cuda_times);
  return facts;
}

}  // namespace

void trace_steps(Bootstrap& bootstrap, Job& job, const StepOptions& step, const Model& model,
                 const TraceOptions& options, const results::LaunchRecord& untraced) {
  // Each rank sends its own process as a trace file, so that one format serves in transit and at
  // the end.
  timeline::Process process = recorded(bootstrap, job, step, model, options.samples);
  std::vector<timeline::Process> processes = job.rank_classes.empty()
                                                 ? std::vector{std::move(process)}
                                                 : by_class(std::move(process), job.rank_classes);
  const std::string mine = timeline::to_json({.facts = {}, .processes = std::move(processes)});
  const std::vector<std::string> all = gathered(bootstrap, job, mine);
  attempt_together(bootstrap, [&] {
    if (bootstrap.rank() != 0) return;
    timeline::Trace trace;
    trace.untraced =
        timeline::UntracedSamples{.samples = static_cast<int>(untraced.step_seconds.size()),
                                  .step = Seconds{stats::median(untraced.step_seconds)}};
    for (const std::string& one : all) {
      std::ranges::move(timeline::parse_trace(one, "a rank's timeline").processes,
                        std::back_inserter(trace.processes));
    }
    trace.facts = facts_of(job, step, trace.processes);
    match_collectives(trace);
    results::replace_file(options.file, timeline::to_json(trace));
    std::cerr << fmt::format("trace: {}\n", options.file);
  });
}

}  // namespace tandem::bench
