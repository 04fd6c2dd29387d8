// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <benchmark/benchmark.h>

#include <optional>
#include <string>
#include <vector>

#include "bench/collectives/collective.h"
#include "bench/driver/sampler.h"
#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"
#include "common/comm/rank_exit.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

// One rank of a job, a thread or a process, with what a benchmark on that rank uses.
struct Rank {
  Bootstrap& bootstrap;
  Platform& platform;
  Device& device;
  Communicator& communicator;
  Clocks clocks = Clocks::kCommon;
  RankExit rank_exit{};  // the last words of a rank that cannot go on
};

// The findings of one case, the same on every rank. Times are in seconds and per call.
struct CollectiveResult {
  std::string skipped;              // why the case was not measured; empty: measured
  std::string wrong;                // the first wrong element of any rank, in words; empty: none
  std::int64_t wrong_elements = 0;  // wrong elements of all ranks
  // By sample. On the host: from the last rank's start to the last one's end. On GPUs: the longest
  // of all ranks' times between events around the calls, which follow an untimed call in which the
  // ranks' streams have met.
  std::vector<double> seconds;
  // By sample, of GPUs: by the host's clock as on the host, over all calls.
  std::vector<double> host_seconds;
  std::vector<double> copy_seconds;  // by sample: the memcpy after it; empty in a world of one
  std::vector<double> rank_seconds;  // by rank: mean of the rank's own durations, by the same clock
};

// Loads, calls once and checks; then warms up, and takes samples, each followed by a sample of the
// memcpy; then checks the last result. Where that result hides an error (a reduction into its own
// input), loads, calls and checks again. Stops at a wrong element. Collective.
[[nodiscard]] CollectiveResult measure_collective(const Rank& rank, const CollectiveCase& measured,
                                                  int samples);

// Bandwidths of `size` bytes in `seconds`. GB are 10^9 bytes.
struct Bandwidth {
  double algorithm = 0;  // size / time: how fast the caller is served
  double bus = 0;        // the algorithm's bandwidth times bus_factor()
};
// The bandwidth of a case; none in a world of one rank, which moves no bytes.
[[nodiscard]] std::optional<Bandwidth> bandwidth(const CollectiveCase& measured, int ranks,
                                                 double seconds);

// Replays a case's samples as the iterations of the case's benchmark, and adds the counters.
// A skipped case becomes an error entry that gives the reason.
void report(benchmark::State& state, const CollectiveCase& measured,
            const CollectiveResult& result);

}  // namespace tandem::bench
