// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/collectives/collective.h"
#include "bench/collectives/rank.h"

namespace tandem::bench {

// What one case found: the same on every rank. Times are in seconds and per call.
struct CollectiveResult {
  std::string skipped;              // why it was not measured; empty: it was
  std::string wrong;                // the first wrong element of any rank, in words; empty: none is
  std::int64_t wrong_elements = 0;  // of all ranks
  std::vector<double> seconds;      // by sample: from the last rank's start to the last one's end
  std::vector<double> copy_seconds;  // by sample: the memcpy beside it; empty in a world of one
  std::vector<double> rank_seconds;  // by rank: mean of its own durations
};

// Loads, calls once and checks; then warms up, and takes samples, each followed by one of the
// memcpy; then checks what is left. Where that would not show (a reduction into its own input), it
// loads, calls and checks again. Stops at a wrong element. Collective.
[[nodiscard]] CollectiveResult measure_collective(const Rank& rank, const CollectiveCase& measured,
                                                  int samples);

}  // namespace tandem::bench
