// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "bench/observe/flight_log.h"
#include "common/comm/bootstrap.h"

namespace tandem::bench {

// How a program of ranks ends where the program cannot go on.
struct FailurePolicy {
  Nanoseconds deadline = std::chrono::seconds(60);  // how long a rank waits for a late rank
  Nanoseconds grace{0};                             // time for other ranks' last words
  std::string flight_dir{};                         // empty: no flight recorder
};

// run_ranks_main() with a flight recorder for this rank, from before MPI starts until MPI has
// ended.
[[nodiscard]] int run_recorded_ranks(const std::string& program, const FailurePolicy& policy,
                                     int& argc, char**& argv,
                                     const std::function<int(Bootstrap&, FlightLog&)>& body);

// run_recorded_ranks() in this process alone, which holds `devices` ranks as threads.
[[nodiscard]] int run_recorded_threads(const FailurePolicy& policy, int devices,
                                       const std::function<int(Bootstrap&, FlightLog&)>& body);

}  // namespace tandem::bench
