// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "bench/flight_log.h"
#include "common/comm/bootstrap.h"

namespace tandem::bench {

// How a program of ranks ends where it cannot go on.
struct FailurePolicy {
  Nanoseconds deadline = std::chrono::seconds(60);  // for a rank that is late
  Nanoseconds grace{0};                             // for other ranks' last words
  std::string flight_dir{};                         // empty: no flight recorder
};

// run_ranks_main() with a flight recorder for this rank, from before MPI starts until it has ended.
[[nodiscard]] int run_recorded_ranks(const std::string& program, const FailurePolicy& policy,
                                     int& argc, char**& argv,
                                     const std::function<int(Bootstrap&, FlightLog&)>& body);

// The same in this process alone, which holds `devices` ranks as threads.
[[nodiscard]] int run_recorded_threads(const FailurePolicy& policy, int devices,
                                       const std::function<int(Bootstrap&, FlightLog&)>& body);

}  // namespace tandem::bench
