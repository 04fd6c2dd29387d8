// SPDX-License-Identifier: Apache-2.0
//
// Times one training step of one strategy. Of processes, every rank runs this main; all take the
// same samples, and rank 0 reports.
#include <cstdlib>
#include <iostream>
#include <memory>

#include "bench/clean_environment.h"
#include "bench/google_benchmark.h"
#include "bench/job.h"
#include "bench/launch_report.h"
#include "bench/step_measurements.h"
#include "bench/strategy_factory.h"
#include "bench/verification.h"
#include "common/comm/mpi_bootstrap.h"
#include "common/comm/thread_bootstrap.h"
#include "common/model/zoo.h"
#include "common/results/record_text.h"

namespace tandem::bench {
namespace {

// What every rank finds alike is said once: by rank 0, also before MPI says which one that is.
bool speaks_for_all() {
  const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
  return rank == nullptr || std::atoi(rank) == 0;
}

int report(const Error& error) {
  if (speaks_for_all() || error.kind() == ErrorKind::kLogic) {
    std::cerr << "step_bench: " << error.what() << std::endl;
  }
  return error.exit_code();
}

void write_record(const StepOptions& options, const Place& place,
                  const results::LaunchRecord& record) {
  if (options.record_file.empty() || place.communicator->rank() != 0) return;
  results::write_record(options.record_file, record);
}

// Fails early where the record could not be written: nothing measured may be lost.
void check_record_file(const StepOptions& options, const Bootstrap& bootstrap) {
  if (options.record_file.empty() || bootstrap.rank() != 0) return;
  check_writable(options.record_file, "--record");
}

int run(const StepOptions& options, Bootstrap& bootstrap) {
  const auto model = make_model(options.model);
  check_record_file(options, bootstrap);
  Place place = open_place(bootstrap, options);
  if (bootstrap.rank() == 0) std::cerr << place.backend_notice << std::endl;
  if (options.verify) {
    const Verification verification = verify(bootstrap, place, options, *model);
    if (bootstrap.rank() == 0) std::cout << verification.text << std::endl;
    return verification.passed ? 0 : 1;
  }
  const results::MachineFacts machine = machine_of(place);
  GoogleBenchmark driver(options.benchmark_flags, bootstrap.rank(), bootstrap.size());
  try {
    if (options.ab_variant) {
      measure_pairs(driver, bootstrap, place, options, *model);
    } else {
      const Measurement measured = measure_step(driver, bootstrap, place, options, *model);
      write_record(options, place, record_of(options, place, *model, measured, machine));
    }
  } catch (const Error& error) {
    place.communicator->abort();  // peers that wait for this rank end soon
    if (error.kind() != ErrorKind::kOutOfMemory) throw;
    write_record(options, place, out_of_memory_record(options, place, *model, error, machine));
    throw;
  }
  return 0;
}

int run_as_launched(const StepOptions& options, int& argc, char**& argv) {
  if (options.launch == Launch::kThreads) {
    ThreadGroup alone(1);
    return run(options, *alone.join(0));
  }
  MpiSession mpi(argc, argv);
  try {
    return run(options, *mpi.bootstrap());
  } catch (const Error& error) {
    return report(error);  // before MPI ends: a rank that says nothing would hide why
  }
}

}  // namespace
}  // namespace tandem::bench

int main(int argc, char** argv) {
  using namespace tandem::bench;
  restart_in_clean_environment(argv);
  try {
    const auto options = parse_step_options(argc, argv);
    if (!options) return 0;
    check_launch(*options);
    return run_as_launched(*options, argc, argv);
  } catch (const tandem::Error& error) {
    return report(error);
  } catch (const std::exception& error) {
    return report(tandem::Error(tandem::ErrorKind::kFailure, error.what()));
  }
}
