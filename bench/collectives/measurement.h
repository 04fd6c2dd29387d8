// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/collectives/collective.h"
#include "bench/collectives/rank.h"

namespace tandem::bench {

// The findings of one case, the same on every rank. Times are in seconds and per call.
struct CollectiveResult {
  std::string skipped;               // why the case was not measured; empty: measured
  std::string wrong;                 // the first wrong element of any rank, in words; empty: none
  std::int64_t wrong_elements = 0;   // wrong elements of all ranks
  std::vector<double> seconds;       // by sample: from the last rank's start to the last one's end
  std::vector<double> copy_seconds;  // by sample: the memcpy after it; empty in a world of one
  std::vector<double> rank_seconds;  // by rank: mean of the rank's own durations
};

// Loads, calls once and checks; then warms up, and takes samples, each followed by a sample of the
// memcpy; then checks the last result. Where that result hides an error (a reduction into its own
// input), loads, calls and checks again. Stops at a wrong element. Collective.
[[nodiscard]] CollectiveResult measure_collective(const Rank& rank, const CollectiveCase& measured,
                                                  int samples);

}  // namespace tandem::bench
