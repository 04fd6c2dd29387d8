// SPDX-License-Identifier: Apache-2.0
#include "bench/collectives/sweep.h"

#include <iostream>

#include "common/base/error.h"

namespace tandem::bench {

namespace {

// Options that change the measurement are part of the name, as results of one name are compared.
std::string full_name(const CollectiveCase& measured, int ranks, const JobOptions& job) {
  std::string name = name_of(measured, ranks);
  if (job.launch == Launch::kThreads) name += "/threads";
  if (job.transport != Transport::kAuto) name += fmt::format("/comm:{}", name_of(job.transport));
  return name;
}

}  // namespace

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

}  // namespace tandem::bench
