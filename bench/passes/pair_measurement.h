// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "bench/driver/google_benchmark.h"
#include "bench/job/job.h"
#include "bench/step/step_options.h"
#include "common/model/model.h"

namespace tandem::bench {

// One building of both sides of a comparison. The place of a side's memory differs from one
// building to the next, and changes the side's step time by more than the effects that pairs are
// for.
struct PairSet {
  int pairs = 0;
  bool b_first = false;  // side b is built first, warmed up first and starts each pair
};

// The sets that `pairs` are dealt out to, evenly: 20 sets, fewer where each set would get less than
// 5 pairs, and always an even number, of which every second set has b first. Below 10 pairs there
// is one set.
[[nodiscard]] std::vector<PairSet> plan_pairs(int pairs);

// Google Benchmark's name for the pair.
[[nodiscard]] std::string pair_name(const StepOptions& step, const PairOptions& options,
                                    Backend backend);

// Times interleaved steps of two variants in this process, A B B A at a time, and reports the ratio
// B / A of such pairs of two steps each, for effects too small to be seen between launches. Both
// variants are built anew for each set of the plan (plan_pairs()). Collective.
void measure_pairs(GoogleBenchmark& driver, Bootstrap& bootstrap, Job& job, const StepOptions& step,
                   const PairOptions& options, const Model& model);

}  // namespace tandem::bench
