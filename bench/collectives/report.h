// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <optional>

#include "bench/collectives/measurement.h"

namespace tandem::bench {

// Bandwidths of `size` bytes in `seconds`. GB are 10^9 bytes.
struct Bandwidth {
  double algorithm = 0;  // size / time: how fast the caller is served
  double bus = 0;        // the algorithm's bandwidth times bus_factor()
};
// The bandwidth of a case; none in a world of one rank, which moves no bytes.
[[nodiscard]] std::optional<Bandwidth> bandwidth(const CollectiveCase& measured, int ranks,
                                                 double seconds);

// Replays a case's samples as the iterations of the case's benchmark, and adds the counters.
// `ping_pong_ns` is the distance of the launch's first two cores; 0: none. A skipped case becomes
// an error entry that gives the reason.
void report(benchmark::State& state, const CollectiveCase& measured, const CollectiveResult& result,
            double ping_pong_ns);

}  // namespace tandem::bench
