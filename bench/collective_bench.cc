// SPDX-License-Identifier: Apache-2.0
//
// Collectives among the ranks of a job, beside what the memory gives: every rank copying at
// once. Each sample of a collective is followed by a memcpy of as many bytes, so that their ratio
// is taken under the same conditions. Every element of every result is checked.
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <string>

#include "bench/collectives/measurement.h"
#include "bench/collectives/options.h"
#include "bench/driver/google_benchmark.h"
#include "bench/driver/ranks_main.h"
#include "bench/observe/flight_log.h"
#include "common/base/error.h"
#include "common/comm/bootstrap.h"
#include "common/comm/thread_bootstrap.h"

namespace tandem::bench {
namespace {

// Opens Google Benchmark on the rank that reports; an error in the flags is thrown on all ranks.
std::unique_ptr<GoogleBenchmark> open_driver(const CollectiveOptions& options,
                                             Bootstrap& bootstrap) {
  std::unique_ptr<GoogleBenchmark> driver;
  attempt_together(bootstrap, [&] {
    if (bootstrap.rank() != 0) return;
    driver = std::make_unique<GoogleBenchmark>("collective_bench", options.benchmark, 0);
  });
  return driver;
}

void introduce(const Job& job, const CollectiveOptions& options) {
  std::cerr << notices_of(job) << std::flush;
  add_context(job);
  GoogleBenchmark::add_context("tandem_launch", to_string(options.job.launch));
  GoogleBenchmark::add_context("tandem_comm", std::string(tandem::name_of(options.job.transport)));
  GoogleBenchmark::add_context("tandem_op", options.op == ReduceOp::kSum ? "sum" : "average");
}

// Options that change the measurement are part of the name, as results of one name are compared.
std::string full_name(const CollectiveCase& measured, int ranks, const JobOptions& job) {
  std::string name = name_of(measured, ranks);
  if (job.launch == Launch::kThreads) name += "/threads";
  if (job.transport != Transport::kAuto) name += fmt::format("/comm:{}", name_of(job.transport));
  return name;
}

// Runs all cases of a job as one rank: all ranks run the same cases in the same order. The rank
// with a `driver` reports through it; the others, without one, follow. Ends at the first case that
// left a wrong element on any rank, and returns that in words, the same on all ranks; empty where
// every element is right. Collective.
std::string run_cases(const Rank& rank, const CollectiveOptions& options, GoogleBenchmark* driver) {
  std::string wrong;  // the first wrong element in words
  // Ends the run through an exception, also inside Google Benchmark, which then runs no more.
  const auto measure = [&](const CollectiveCase& measured) {
    CollectiveResult result = measure_collective(rank, measured, options.samples);
    wrong = result.wrong;
    if (!wrong.empty()) fail(ErrorKind::kFailure, "{}", wrong);
    return result;
  };
  const auto add = [&](const CollectiveCase& measured) {
    const std::string name = full_name(measured, rank.communicator.size(), options.job);
    driver->add(name, options.samples, benchmark::kMicrosecond,
                [&measure, measured, name](benchmark::State& state) {
                  const CollectiveResult result = measure(measured);
                  if (!result.skipped.empty()) {
                    std::cerr << fmt::format("{}: skipped: {}\n", name, result.skipped);
                  }
                  report(state, measured, result);
                });
  };
  const auto error = capture_error([&] {
    for (CollectiveCase measured : cases_of(options)) {
      measured.calls = calls_per_sample(options, rank.platform.backend());
      if (driver == nullptr) {
        static_cast<void>(measure(measured));
      } else {
        add(measured);
      }
    }
    if (driver != nullptr) driver->run();
  });
  if (error && wrong.empty()) throw Error(*error);
  return wrong;
}

// Runs the sweep and says what is wrong with a result; empty where every result is right. Peers
// that wait for a rank which gave up end soon.
std::string run_sweep(const Rank& rank, const CollectiveOptions& options, GoogleBenchmark* driver) {
  return aborting_on_error(
      rank.rank_exit, [&] { rank.communicator.abort(); },
      [&] { return run_cases(rank, options, driver); });
}

// All ranks know what is wrong, and rank 0 alone says so.
int run_process(const CollectiveOptions& options, Bootstrap& bootstrap, FlightLog& flight) {
  const auto driver = open_driver(options, bootstrap);
  JobOptions observed = options.job;
  observed.communicator.observer = flight.collectives_of(0);
  observed.communicator.rank_exit = flight.rank_exit(observed.communicator.rank_exit.grace);
  const Job job = open_job(bootstrap, observed);
  if (driver) introduce(job, options);
  const Rank rank{bootstrap,         *job.platform,  *job.device,
                  *job.communicator, clocks_of(job), job.rank_exit};
  const std::string wrong = run_sweep(rank, options, driver.get());
  if (!wrong.empty() && driver) std::cerr << fmt::format("collective_bench: {}\n", wrong);
  return wrong.empty() ? 0 : 1;
}

int run_threads(const CollectiveOptions& options, Bootstrap& bootstrap, FlightLog& flight) {
  const auto driver = open_driver(options, bootstrap);
  Job job = open_job(bootstrap, options.job);
  introduce(job, options);
  job.communicator.reset();  // each rank that is a thread makes a communicator of its own
  run_ranks_as_threads(options.job.devices, [&](Bootstrap& ranks) {
    Device& device = job.platform->device(ranks.rank());
    device.bind_this_thread();
    const auto communicator = make_communicator(options.job.transport, ranks, device,
                                                {.deadline = options.job.communicator.deadline,
                                                 .observer = flight.collectives_of(ranks.rank()),
                                                 .rank_exit = flight.rank_exit(Nanoseconds{0})});
    const Rank rank{ranks, *job.platform, device, *communicator, Clocks::kCommon, job.rank_exit};
    GoogleBenchmark* const reporting = ranks.rank() == 0 ? driver.get() : nullptr;
    const std::string wrong = run_sweep(rank, options, reporting);
    if (!wrong.empty()) fail(ErrorKind::kFailure, "{}", wrong);
  });
  return 0;
}

}  // namespace
}  // namespace tandem::bench

int main(int argc, char** argv) {
  using namespace tandem::bench;
  restart_in_clean_environment(argv);
  return run_main("collective_bench", [&] {
    const auto options = parse_collective_options(argc, argv);
    if (!options) return 0;
    check_launch(options->job.launch);
    return run_recorded("collective_bench", options->job, options->flight_dir, argc, argv,
                        [&](tandem::Bootstrap& bootstrap, FlightLog& flight) {
                          const bool has_threads = options->job.launch == Launch::kThreads;
                          return has_threads ? run_threads(*options, bootstrap, flight)
                                             : run_process(*options, bootstrap, flight);
                        });
  });
}
