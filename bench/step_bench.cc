// SPDX-License-Identifier: Apache-2.0
//
// Times one training step of one strategy. In a job of processes every rank runs this main; all
// ranks take the same samples, and rank 0 reports.
#include <algorithm>
#include <iostream>
#include <memory>
#include <vector>

#include "bench/calibrate/calibrate.h"
#include "bench/driver/google_benchmark.h"
#include "bench/driver/ranks_main.h"
#include "bench/job/job.h"
#include "bench/observe/flight_log.h"
#include "bench/passes/contention.h"
#include "bench/passes/pair_measurement.h"
#include "bench/passes/traced_pass.h"
#include "bench/passes/verification.h"
#include "bench/step/fitting_batch.h"
#include "bench/step/launch_report.h"
#include "bench/step/measured_peak.h"
#include "bench/step/measurement.h"
#include "bench/step/model_table.h"
#include "bench/step/single_step.h"
#include "bench/step/step_command.h"
#include "bench/step/step_watch.h"
#include "bench/step/strategy_factory.h"
#include "bench/step/workload_source.h"
#include "common/base/checksummed_file.h"
#include "common/comm/bootstrap.h"
#include "common/kernels/host_support.h"
#include "common/results/files.h"
#include "common/results/launch_record.h"
#include "common/runtime/host/cores.h"
#include "common/runtime/registry.h"

namespace tandem::bench {
namespace {

void write_record(const StepOptions& options, const Job& job, const results::LaunchRecord& record) {
  if (options.record_file.empty() || job.communicator->rank() != 0) return;
  results::write_record(options.record_file, record);
}

void check_output(const std::string& file, const std::string& flag) {
  if (file.empty()) return;
  check_replaceable(file, flag);
  check_writable(file, flag);
}

struct Output {
  std::string file;  // empty: the output is not wanted
  const char* flag;
};

// The outputs that this program writes itself; Google Benchmark writes its own.
std::vector<Output> outputs_of(const StepOptions& options) {
  return {{options.record_file, "--record"},
          {options.trace_file, "--trace"},
          {options.contention_file, "--contention"},
          {options.calibrated_file, "--calibrate"}};
}

// All outputs: this program's own and Google Benchmark's.
std::vector<Output> named_outputs(const StepOptions& options) {
  std::vector<Output> outputs = outputs_of(options);
  outputs.push_back({options.benchmark.out, "--benchmark_out"});
  return outputs;
}

// Throws a usage error where two outputs name one file.
void check_apart(const StepOptions& options) {
  const std::vector<Output> outputs = named_outputs(options);
  for (auto a = outputs.begin(); a != outputs.end(); ++a) {
    if (a->file.empty()) continue;
    const auto b = std::find_if(a + 1, outputs.end(),
                                [&](const Output& other) { return other.file == a->file; });
    if (b == outputs.end()) continue;
    fail(ErrorKind::kUsage, "{} and {} name one file, '{}': give each its own", a->flag, b->flag,
         a->file);
  }
}

// Throws a usage error where an output would overwrite the workload file that is read.
void check_outputs(const StepOptions& options) {
  check_apart(options);
  const auto model = checksummed_file(options.model);
  if (!model) return;
  for (const Output& output : named_outputs(options)) {
    if (!output.file.empty()) results::check_is_no_input(output.file, output.flag, {model->path});
  }
}

// Fails early where an output could not be written, so that no measurement is lost. Collective:
// only rank 0 writes, but all ranks must know.
std::unique_ptr<GoogleBenchmark> open_outputs(const StepOptions& options, Bootstrap& bootstrap) {
  std::unique_ptr<GoogleBenchmark> driver;
  attempt_together(bootstrap, [&] {
    check_outputs(options);
    if (bootstrap.rank() == 0) {
      for (const Output& output : outputs_of(options)) check_output(output.file, output.flag);
    }
    driver = std::make_unique<GoogleBenchmark>("step_bench", options.benchmark, bootstrap.rank());
  });
  return driver;
}

// True where only the names are wanted, which are then listed. Throws where no name is selected.
bool name_only(GoogleBenchmark& driver, const StepOptions& options, const Job& job) {
  std::vector<std::string> names;
  for (const StepOptions& one : each_listed(options)) {
    names.push_back(benchmark_name(one, job.platform->backend()));
    if (!driver.leaves_out(names.back())) return false;
  }
  for (const std::string& name : names) driver.add(name, 1, benchmark::kMillisecond, {});
  driver.run();
  return true;
}

int report(const Verification& verification, int rank) {
  if (rank == 0) std::cout << verification.text << std::endl;
  switch (verification.outcome) {
    case Verification::Outcome::kAgrees:
      return 0;
    case Verification::Outcome::kDiffers:
      return kVerdictExit;
    case Verification::Outcome::kNotVerified:
      break;
  }
  return 1;
}

void check_back_end(const Model& model, Backend backend, const ImageOptions& images) {
  check_runs_on(model, backend);
  if (backend != Backend::kHost || images == ImageOptions{}) return;
  fail(ErrorKind::kUsage,
       "--channels-last and --conv-fp32 are of GPUs, and the back end is host: leave them out");
}

int run(StepOptions options, Bootstrap& bootstrap, FlightLog& flight) {
  check_model(options);
  StepWatch watch(options, bootstrap, flight);
  watch.come_late();
  flight.enter(Stage::kMeet);
  check_same_options(bootstrap, options);
  flight.enter(Stage::kOpen);
  const auto driver = open_outputs(options, bootstrap);
  const std::vector<int> cores = host::allowed_cores();  // before this thread is bound to one
  take_workload_times(options);
  scale_to_single_step(options);
  Job job = open_job(bootstrap, options.job);
  if (!options.calibrated_file.empty()) {
    write_calibration(job, options, cores);
    return 0;
  }
  if (const auto workload = read_workload(options.model)) {
    if (!is_simulated(job)) check_duration(bootstrap, job, options, *workload);
  }
  const auto model = make_model_for(options);
  check_back_end(*model, job.platform->backend(), options.variant.training.images);
  watch.attach(options, job, *model);
  if (bootstrap.rank() == 0) std::cerr << notices_of(job) << std::flush;
  if (job.nodes.nodes() > 1 && !options.planted.empty()) {
    fail(ErrorKind::kUsage,
         "--plant={}: a delay is planted on device 0 of one node, and the ranks run on {}: "
         "leave it out",
         options.planted, job.nodes.nodes());
  }
  const results::MachineFacts machine = machine_of(job);
  try {
    flight.enter(Stage::kBuild);
    if (name_only(*driver, options, job)) return 0;
    if (options.verify) return report(verify(bootstrap, job, options, *model), bootstrap.rank());
    if (!options.listed.empty()) {
      measure_listed(*driver, bootstrap, job, each_listed(options), *model);
    } else if (options.ab_variant) {
      measure_pairs(*driver, bootstrap, job, options, *model);
    } else {
      Measurement measured = measure_step(*driver, bootstrap, job, options, *model);
      measured.threads = watch.gather_threads(bootstrap);
      measured.peak_gflops = find_peak(job, options);
      report_flops(job, options, *model, measured);
      watch.check_fault_met();
      const auto record = record_of(options, job, *model, measured, machine);
      write_record(options, job, record);
      if (!options.trace_file.empty()) trace_steps(bootstrap, job, options, *model, record);
      if (!options.contention_file.empty()) measure_contention(bootstrap, job, options, *model);
    }
    flight.enter(Stage::kReport);
  } catch (const Error& error) {
    job.rank_exit.report(error);  // before the consequences of the error show on any rank
    abort(job);                   // peers that wait for this rank end soon
    if (error.kind() != ErrorKind::kOutOfMemory) throw;
    // An error that one rank met alone is a failure of that rank, not a size that does not fit.
    if (bootstrap.size() > 1 && error.reach() != Error::Reach::kAllRanks) throw;
    const Error told =
        is_simulated(job) ? with_fitting_batch(error, bootstrap, options, *model) : error;
    write_record(options, job, out_of_memory_record(options, job, *model, told, machine));
    if (is_simulated(job)) throw Error(told);
    throw;
  }
  return 0;
}

void check(const StepOptions& options) {
  check_model(options);
  check_outputs(options);
  if (options.check == Check::kBackend) {
    const Backend backend = choose_backend(options.job.backend, {}).backend;
    if (backend == Backend::kHost) check_host_has(options.variant.training.precision);
  }
  if (options.check == Check::kModel) std::cout << size_in_json(*make_model_for(options)) << "\n";
}

}  // namespace
}  // namespace tandem::bench

int main(int argc, char** argv) {
  using namespace tandem::bench;
  restart_in_clean_environment(argv);
  tell_of_interrupt("step_bench");
  return run_main("step_bench", [&] {
    const auto options = parse_step_options(argc, argv);
    if (!options) return 0;
    if (options->check) {
      check(*options);
      return 0;
    }
    check_launch(options->job.launch);
    return run_recorded("step_bench", options->job, options->flight_dir, argc, argv,
                        [&](tandem::Bootstrap& bootstrap, FlightLog& flight) {
                          return run(*options, bootstrap, flight);
                        });
  });
}
