// SPDX-License-Identifier: Apache-2.0
//
// Runs of one training step of one strategy: timed, in pairs, verified, traced and so on. In a job
// of processes every rank runs this main; all ranks take the same samples, and rank 0 reports.
#include <unistd.h>

#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "bench/calibrate/calibrate.h"
#include "bench/driver/google_benchmark.h"
#include "bench/driver/ranks_main.h"
#include "bench/job/job.h"
#include "bench/observe/flight_log.h"
#include "bench/passes/pair_measurement.h"
#include "bench/passes/traced_pass.h"
#include "bench/passes/verification.h"
#include "bench/step/launch_report.h"
#include "bench/step/measured_peak.h"
#include "bench/step/measurement.h"
#include "bench/step/model_list.h"
#include "bench/step/simulated_step.h"
#include "bench/step/step_command.h"
#include "bench/step/step_watch.h"
#include "bench/step/workload_source.h"
#include "common/base/checksummed_file.h"
#include "common/base/lines.h"
#include "common/comm/bootstrap.h"
#include "common/kernels/host_support.h"
#include "common/results/files.h"
#include "common/results/launch_record.h"
#include "common/runtime/host/cores.h"
#include "common/runtime/registry.h"

namespace tandem::bench {
namespace {

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
std::vector<Output> outputs_of(const StepCommand& command) {
  return {{command.sampling.record_file, "--record"},
          {command.trace.file, "--file"},
          {command.calibration.file, "--file"}};
}

// Throws a usage error where two outputs name one file, or where one would overwrite the workload
// file that is read.
void check_outputs(const StepCommand& command) {
  std::vector<Output> outputs = outputs_of(command);
  outputs.push_back({command.benchmark.out, "--benchmark_out"});
  std::erase_if(outputs, [](const Output& output) { return output.file.empty(); });
  const auto model = checksummed_file(command.step.model);
  for (auto a = outputs.begin(); a != outputs.end(); ++a) {
    for (auto b = std::next(a); b != outputs.end(); ++b) {
      if (a->file != b->file) continue;
      fail(ErrorKind::kUsage, "{} and {} name one file, '{}': give each its own", a->flag, b->flag,
           a->file);
    }
    if (model) results::check_is_no_input(a->file, a->flag, {model->path});
  }
}

// Fails early where an output could not be written, so that no measurement is lost. Collective:
// only rank 0 writes, but all ranks must know.
std::unique_ptr<GoogleBenchmark> open_outputs(const StepCommand& command, Bootstrap& bootstrap) {
  std::unique_ptr<GoogleBenchmark> driver;
  attempt_together(bootstrap, [&] {
    check_outputs(command);
    if (bootstrap.rank() == 0) {
      for (const Output& output : outputs_of(command)) check_output(output.file, output.flag);
    }
    driver = std::make_unique<GoogleBenchmark>("step_bench", command.benchmark, bootstrap.rank());
  });
  return driver;
}

int report(const Verification& verification, int rank) {
  if (rank == 0) std::cout << to_lines(verification.text, columns_of(STDOUT_FILENO)) << std::flush;
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
       "--channels-last and --conv-fp32 apply to GPUs, and the back end is host: leave them out");
}

void check_planted(const StepOptions& step, const Job& job) {
  if (job.nodes.nodes() == 1 || step.planted.empty()) return;
  fail(ErrorKind::kUsage,
       "--plant={}: a delay is planted on device 0 of one node, and the ranks run on {}: "
       "leave it out",
       step.planted, job.nodes.nodes());
}

// A step with all that it takes to make its strategy.
struct OpenStep {
  GoogleBenchmark& driver;
  Bootstrap& bootstrap;
  Job& job;
  const StepOptions& step;
  const Model& model;
  const StepWatch& watch;
  const results::MachineFacts& machine;
};

void write_record(const OpenStep& open, const SamplingOptions& options,
                  const results::LaunchRecord& record) {
  if (options.record_file.empty() || open.job.communicator->rank() != 0) return;
  results::write_record(options.record_file, record);
}

// Samples of the step, and their record.
results::LaunchRecord time_step(const OpenStep& open, const SamplingOptions& options) {
  const auto& [driver, bootstrap, job, step, model, watch, machine] = open;
  Measurement measured = measure_step(driver, bootstrap, job, step, options, model);
  measured.threads = watch.gather_threads(bootstrap);
  measured.peak_gflops = find_peak(job, options.peak, step.variant.training.precision);
  report_flops(job, step, model, measured, options.peak.is_measured);
  watch.check_fault_met();
  const results::LaunchRecord record = record_of(step, job, model, measured, machine);
  write_record(open, options, record);
  return record;
}

int run_step(const OpenStep& open, const StepCommand& command) {
  const auto& [driver, bootstrap, job, step, model, watch, machine] = open;
  switch (command.run) {
    case Run::kTime:
      static_cast<void>(time_step(open, command.sampling));
      break;
    case Run::kPair:
      measure_pairs(driver, bootstrap, job, step, command.pair, model);
      break;
    case Run::kVerify:
      return report(verify(bootstrap, job, step, model), bootstrap.rank());
    case Run::kTrace:
      trace_steps(bootstrap, job, step, model, command.trace, time_step(open, command.sampling));
      break;
    case Run::kCalibrate:
    case Run::kList:
      fail(ErrorKind::kLogic, "a run without a step of its own");
  }
  return 0;
}

// Reports the error of a step, which the job does not survive.
[[noreturn]] void end_with(const Error& error, const OpenStep& open,
                           const SamplingOptions& options) {
  const auto& [driver, bootstrap, job, step, model, watch, machine] = open;
  job.rank_exit.report(error);  // before the consequences of the error show on any rank
  abort(job);                   // peers that wait for this rank end soon
  if (error.kind() != ErrorKind::kOutOfMemory) throw Error(error);
  // An error that one rank met alone is a failure of that rank, not a size that does not fit.
  if (bootstrap.size() > 1 && error.reach() != Error::Reach::kAllRanks) throw Error(error);
  const Error reported =
      is_simulated(job) ? with_fitting_batch(error, bootstrap, step, model) : Error(error);
  write_record(open, options, out_of_memory_record(step, job, model, reported, machine));
  throw Error(reported);
}

int run(StepCommand command, Bootstrap& bootstrap, FlightLog& flight) {
  StepOptions& step = command.step;
  const auto model = make_model_for(step);
  StepWatch watch(step, bootstrap, flight);
  watch.come_late();
  flight.enter(Stage::kMeet);
  check_same_options(bootstrap, command);
  flight.enter(Stage::kOpen);
  const auto driver = open_outputs(command, bootstrap);
  const std::vector<int> cores = host::allowed_cores();  // before this thread is bound to one
  scale_to_single_step(step);
  Job job = open_job(bootstrap, step.job);
  if (command.run == Run::kCalibrate) {
    write_calibration(job, step, command.calibration, cores);
    return 0;
  }
  check_back_end(*model, job.platform->backend(), step.variant.training.images);
  watch.attach(step, command.pair, job);
  if (bootstrap.rank() == 0) std::cerr << notices_of(job) << std::flush;
  check_planted(step, job);
  const results::MachineFacts machine = machine_of(job);
  const OpenStep open{*driver, bootstrap, job, step, *model, watch, machine};
  try {
    flight.enter(Stage::kBuild);
    const int status = run_step(open, command);
    flight.enter(Stage::kReport);
    return status;
  } catch (const Error& error) {
    end_with(error, open, command.sampling);
  }
}

void check(const StepCommand& command) {
  const auto model = make_model_for(command.step);
  check_outputs(command);
  if (command.check == Check::kBackend) {
    const Backend backend = choose_backend(command.step.job.backend, {}).backend;
    if (backend == Backend::kHost) check_host_has(command.step.variant.training.precision);
  }
  if (command.check == Check::kModel) std::cout << size_in_json(*model) << "\n";
}

}  // namespace
}  // namespace tandem::bench

int main(int argc, char** argv) {
  using namespace tandem::bench;
  restart_in_clean_environment(argv);
  tell_of_interrupt("step_bench");
  return run_main("step_bench", [&] {
    const auto command = parse_step_command(argc, argv);
    if (!command) return 0;
    if (command->check) {
      check(*command);
      return 0;
    }
    const JobOptions& job = command->step.job;
    check_launch(job.launch);
    return run_recorded("step_bench", job, command->flight_dir, argc, argv,
                        [&](tandem::Bootstrap& bootstrap, FlightLog& flight) {
                          return run(*command, bootstrap, flight);
                        });
  });
}
