// SPDX-License-Identifier: Apache-2.0
//
// Measures comparisons first, and goes on with those that are neither resolved nor shown equal, a
// round at a time.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "common/results/document.h"
#include "tools/tandem/run/sweep_runner.h"

namespace tandem::cli {

// The launches of each cell before the first look, where the user names no number and the sweep has
// as many.
inline constexpr int kLaunchesBeforeLooking = 4;

// The last look is after this many times the launches of the first.
inline constexpr int kMostRoundsOfFirst = 6;

// All cells are measured in so many rounds first. Then those of comparisons go on alone, and the
// others get their further launches once all is decided, or at the end of a budget: it keeps the
// time for one more launch of each, a third of it at most. Where the rounds of all cells would take
// more than a third of a budget, comparisons come first.
inline constexpr int kRoundsOfAll = 2;

struct ResolveEnd {
  SweepEnd end = SweepEnd::kComplete;
  std::vector<std::string> left_out{};  // names of the cells that lack launches
};

// Measures `plan`, whose launches are those before the first look, until each comparison of dp and
// ddp is resolved, lies within `ratio` (0.03: 3 %) of 1, or has had its last look, or until
// plan.stop_at. A comparison ends with a cell that is skipped, or fails in this run. Says after
// each round what is open. The looks are fixed in the journal before the first one, and a later
// call goes on with them.
[[nodiscard]] ResolveEnd resolve(const SweepPlan& plan, double ratio, const Launcher& launcher,
                                 results::Journal& journal, const Interrupts& interrupts);

// The pairs of dp and ddp at one point of several devices among planned cells. Variants count as
// well, so that there may be more than the report compares, which only widens intervals.
struct PlannedPairs {
  int count = 0;
  std::set<std::string> cells;  // their names
};
[[nodiscard]] PlannedPairs pairs_in(const std::vector<results::Cell>& cells);

// Throws a usage error where no two of the cells are dp and ddp at one point of several devices.
void check_has_comparisons(const std::vector<results::Cell>& cells);

// Throws a usage error where a folder was begun with another ratio.
void check_resolves(const results::SweepInfo& found, double ratio);

}  // namespace tandem::cli
