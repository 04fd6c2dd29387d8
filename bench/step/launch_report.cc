// SPDX-License-Identifier: Apache-2.0
#include "bench/step/launch_report.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <optional>

#include "bench/driver/google_benchmark.h"
#include "bench/job/simulated_job.h"
#include "common/base/checksummed_file.h"
#include "common/base/units.h"
#include "common/comm/mpi/mpi_bootstrap.h"
#include "common/kernels/host_support.h"
#include "common/results/machine_facts.h"
#include "common/runtime/host/cores.h"
#include "common/stats/summary.h"

namespace tandem::bench {
namespace {

double per_step(Nanoseconds total, int steps) { return Seconds(total).count() / steps; }

results::DevicePhases phases_of(int device, const PhaseTimes& times) {
  results::DevicePhases phases{.device = device, .mean_seconds = {}, .span_seconds = 0};
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    if (times.total[i].count() == 0) continue;
    phases.mean_seconds[std::string(kPhaseNames[i])] = per_step(times.total[i], times.steps);
  }
  phases.span_seconds = per_step(times.span, times.steps);
  return phases;
}

void add_to(PhaseTimes& all, const PhaseTimes& sample) {
  for (std::size_t phase = 0; phase < kPhaseCount; ++phase) all.total[phase] += sample.total[phase];
  all.span += sample.span;
  all.steps += sample.steps;
}

PhaseTimes sum_of(const std::vector<PhaseTimes>& samples) {
  PhaseTimes sum;
  for (const PhaseTimes& sample : samples) add_to(sum, sample);
  return sum;
}

// The device that the sample's step ended with: the root where there is one, else the slowest
// device.
const PhaseTimes& critical_of(const Measurement& measurement, std::size_t sample, bool has_root) {
  const auto& devices = measurement.phases;
  if (has_root) return devices.front().samples[sample];
  return std::max_element(devices.begin(), devices.end(),
                          [sample](const DevicePhaseTimes& a, const DevicePhaseTimes& b) {
                            return a.samples[sample].span < b.samples[sample].span;
                          })
      ->samples[sample];
}

double exposed(const PhaseTimes& times) {
  return per_step(times.of(Phase::kExposedComm), times.steps);
}

double compute(const PhaseTimes& times) {
  return per_step(times.of(Phase::kForward) + times.of(Phase::kBackward), times.steps);
}

using OfSample = double (*)(const PhaseTimes&);

// The mean over samples of the least value of all devices.
double mean_least(const std::vector<DevicePhaseTimes>& devices, OfSample value) {
  const std::size_t samples = devices.front().samples.size();
  double sum = 0;
  for (std::size_t sample = 0; sample < samples; ++sample) {
    double least = value(devices.front().samples[sample]);
    for (const DevicePhaseTimes& device : devices) {
      least = std::min(least, value(device.samples[sample]));
    }
    sum += least;
  }
  return sum / static_cast<double>(samples);
}

void add_phases(results::LaunchRecord& record, const Measurement& measurement, bool has_root) {
  if (measurement.phases.empty()) return;
  for (const DevicePhaseTimes& device : measurement.phases) {
    record.phases.push_back(phases_of(device.device, sum_of(device.samples)));
  }
  PhaseTimes critical;
  for (std::size_t sample = 0; sample < measurement.step_seconds.size(); ++sample) {
    add_to(critical, critical_of(measurement, sample, has_root));
  }
  record.critical = phases_of(-1, critical);
  record.remainder_seconds = stats::mean(measurement.step_seconds) - record.critical.span_seconds;
  record.least_exposed_seconds = mean_least(measurement.phases, exposed);
  record.least_compute_seconds = mean_least(measurement.phases, compute);
}

results::CollectiveRecord collective_of(const std::vector<DeviceCollectiveTimes>& devices,
                                        std::size_t index) {
  const auto seconds = [index](const DeviceCollectiveTimes& device, std::size_t sample) {
    const CollectiveTimes& times = device.samples[sample][index];
    return per_step(times.total, times.steps);
  };
  const auto samples = devices.front().samples.size();
  results::CollectiveRecord record{.bytes = devices.front().samples.front()[index].size.value};
  record.mean_seconds.resize(devices.size());
  for (std::size_t sample = 0; sample < samples; ++sample) {
    double least = seconds(devices.front(), sample);
    for (std::size_t device = 0; device < devices.size(); ++device) {
      const double own = seconds(devices[device], sample);
      record.mean_seconds[device] += own / static_cast<double>(samples);
      least = std::min(least, own);
    }
    record.least_seconds += least / static_cast<double>(samples);
  }
  return record;
}

void add_collectives(results::LaunchRecord& record, const Measurement& measurement) {
  const auto& devices = measurement.collectives;
  if (devices.empty()) return;
  for (std::size_t i = 0; i < devices.front().samples.front().size(); ++i) {
    record.collectives.push_back(collective_of(devices, i));
  }
}

void add_memory(results::LaunchRecord& record, const Measurement& measurement) {
  for (const MemoryUse& use : measurement.memory) {
    record.memory.push_back({.device = static_cast<int>(record.memory.size()),
                             .capacity_bytes = use.capacity.value,
                             .peak_bytes = use.peak.value});
  }
}

// The figures are those of each class of ranks, whose number the entries state.
void count_ranks(results::LaunchRecord& record, const std::vector<RankClass>& classes) {
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const auto [first, count] = classes[i];
    const std::optional<int> members = count > 1 ? std::optional(count) : std::nullopt;
    if (i < record.phases.size()) record.phases[i].count = members;
    record.memory[i].device = first;
    record.memory[i].count = members;
  }
}

// The modelled parts of the launch, which are no measurement of this machine, as the reader is
// known.
std::vector<std::string> modelled_in(const StepOptions& options, const Job& job,
                                     const std::map<std::string, double>& rests_on) {
  std::vector<std::string> modelled;
  if (is_simulated(job)) {
    modelled.push_back(fmt::format("hardware {}: all times are simulated", job.simulated_hardware));
  }
  if (!rests_on.empty()) modelled.push_back(path_words(rests_on));
  if (options.single_step) {
    modelled.push_back(fmt::format("operations scaled by {:.4g} to a single step of {}",
                                   options.job.scale,
                                   tandem::to_string(Seconds(*options.single_step))));
  }
  const InterpreterOptions& interpreter = options.variant.training.interpreter;
  if (interpreter.costs.any()) {
    modelled.push_back(fmt::format("dispatch cost {}", tandem::to_string(interpreter.costs)));
  }
  if (interpreter.lock == InterpreterLock::kOn) modelled.emplace_back("interpreter lock");
  return modelled;
}

// The model of a GPU: "NVIDIA H200" of "NVIDIA H200 (GPU 0)".
std::string model_of(const Device& gpu) {
  const std::string name = gpu.name();
  return name.substr(0, name.rfind(" (GPU "));
}

results::LaunchRecord common_record(const StepOptions& options, const Job& job, const Model& model,
                                    const results::MachineFacts& machine,
                                    const std::map<std::string, double>& rests_on = {}) {
  results::LaunchRecord record;
  record.cell = cell_of(options, job.platform->backend());
  record.mode = options.free_running > 0 ? "free-running" : "synchronous";
  record.precision = name_of(options.variant.training.precision);
  record.oversubscribed = job.oversubscribed;
  const std::int64_t parameters = model.layout().parameter_count();
  const StepWork work = step_work_of(options, model);
  record.model = {.parameters = parameters,
                  .parameter_bytes = parameters * static_cast<std::int64_t>(sizeof(float)),
                  .flops_per_sample = model.flops_per_sample(),
                  .operations_per_step = work.operations(),
                  .optimizer_bytes_per_step = work.optimizer_bytes.value};
  record.modelled = modelled_in(options, job, rests_on);
  if (!rests_on.empty()) record.rests_on = rests_on;
  record.planted = options.planted;
  record.machine = machine;
  return record;
}

}  // namespace

StepWork step_work_of(const StepOptions& options, const Model& model) {
  const TrainingOptions& training = options.variant.training;
  StepWork work =
      count_step(model, shards_of(options).front().count, training.precision, training.optimizer);
  const int passes = options.variant.reducer.micro_batches;
  work.forward *= passes;
  work.loss *= passes;
  work.backward *= passes;
  work.product_flops *= passes;
  return work;
}

void warn(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) {
    std::cerr << fmt::format("step_bench: warning: {}\n", warning);
  }
}

void add_context(const Job& job, const StepOptions& options) {
  add_context(job);
  GoogleBenchmark::add_context("tandem_mode",
                               options.free_running > 0 ? "free-running" : "synchronous");
}

std::string benchmark_name(const StepOptions& options, Backend backend) {
  return cell_of(options, backend).name();
}

results::Cell cell_of(const StepOptions& options, Backend backend) {
  return {.strategy = to_string(options.variant.strategy),
          .launch = to_string(options.job.launch),
          .model = name_in_results(options.model),
          .backend = to_string(backend),
          .devices = options.job.devices,
          .global_batch = options.variant.training.global_batch,
          .options = options.named};
}

results::MachineFacts machine_of(const Job& job) {
  results::MachineFacts facts = results::gather_machine_facts();
  facts.cores = job.usable_cores;
  const bool on_cores = job.platform->backend() == Backend::kHost;
  if (on_cores) facts.bound_cores = job.cores;
  if (job.nodes.nodes() > 1) facts.hosts = job.nodes.hosts;
  facts.libraries["kernels"] = kernel_library_version(job.platform->backend());
  facts.libraries["mpi"] = mpi_library_version();
  if (!on_cores) facts.libraries["device"] = model_of(*job.device);
  if (!job.nccl.empty()) facts.libraries["nccl"] = job.nccl;
  if (!job.transport.why.empty()) facts.libraries["transport"] = job.transport.why;
  if (on_cores && job.communicator->rank() == 0 && first_two_share_a_node(job)) {
    facts.ping_pong_ns = host::ping_pong_ns(job.cores[0], job.cores[1]);
  }
  job.communicator->barrier();
  return facts;
}

results::LaunchRecord record_of(const StepOptions& options, const Job& job, const Model& model,
                                const Measurement& measurement,
                                const results::MachineFacts& machine) {
  results::LaunchRecord record = common_record(options, job, model, machine, measurement.rests_on);
  record.first_step_seconds = measurement.warmup.first_step.count();
  record.warmup_steps = measurement.warmup.steps;
  record.warmup_seconds = measurement.warmup.time.count();
  record.step_seconds = measurement.step_seconds;
  add_phases(record, measurement, options::traits_of(options.variant.strategy).has_root());
  add_collectives(record, measurement);
  add_memory(record, measurement);
  count_ranks(record, job.rank_classes);
  record.gpus = measurement.gpus;
  record.joules_per_step = measurement.joules_per_step;
  record.taken = measurement.taken;
  record.threads = measurement.threads;
  record.resolved = measurement.resolved;
  // The cell names the workload file and its checksum, so the model's own name is recorded here.
  if (checksummed_file(options.model)) record.resolved["model"] = model.name();
  record.warnings = job.warnings;
  record.warnings.insert(record.warnings.end(), measurement.warnings.begin(),
                         measurement.warnings.end());
  record.devices_used = measurement.devices_used;
  record.dispatches_per_step = measurement.dispatches_per_step;
  record.peak_gflops = measurement.peak_gflops;
  record.barrier_skew_seconds = measurement.barrier_skew.median.count();
  record.barrier_skew_uncertainty_seconds = measurement.barrier_skew.uncertainty.count();
  for (const Bytes size : measurement.bucket_sizes) record.bucket_bytes.push_back(size.value);
  return record;
}

results::LaunchRecord out_of_memory_record(const StepOptions& options, const Job& job,
                                           const Model& model, const Error& error,
                                           const results::MachineFacts& machine) {
  results::LaunchRecord record = common_record(options, job, model, machine);
  record.status = results::Status::kSkipped;
  record.reason = fmt::format("out of memory: {}", error.what());
  return record;
}

}  // namespace tandem::bench
