// SPDX-License-Identifier: Apache-2.0
//
// Goes on after the planned launches, a round at a time, with the cells of comparisons that are
// neither resolved nor shown equal.
#pragma once

#include "tools/tandem/run/sweep_runner.h"

namespace tandem::cli {

// The launches of each cell before the first look, unless the user or the sweep asks for fewer or
// another number is given.
inline constexpr int kLaunchesBeforeLooking = 4;

// The last look is after this many times the launches of the first.
inline constexpr int kMostRoundsOfFirst = 4;

// Measures `plan`, whose launches are those before the first look, until each comparison of dp and
// ddp is resolved or its interval lies within `ratio` (0.03: 3 %) of 1, the last look is over, or
// plan.stop_at. Says after each round what is open. What was planned at the first look stays in the
// journal, and a later call goes on with it. Throws a usage error where the cells hold nothing to
// compare, and where the journal was begun with another ratio.
[[nodiscard]] SweepEnd resolve(const SweepPlan& plan, double ratio,
                               const std::vector<RunSide>& sides, const Interrupts& interrupts);

// Throws a usage error where no two of the cells are dp and ddp at one point.
void check_has_comparisons(const std::vector<results::Cell>& cells);

}  // namespace tandem::cli
