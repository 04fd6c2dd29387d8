// SPDX-License-Identifier: Apache-2.0
//
// The rule that finds launches which others disturbed. A launch is judged by what was taken from
// it, never by its times, so that leaving it out of figures does not bias them. A quota and heat
// are no causes, since a launch brings them upon itself. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "common/results/launch_record.h"

namespace tandem::results {

// A launch that lost more than this share of its measured window, and a tick, is disturbed. The
// kernel counts a core's time in ticks, of 10 ms mostly, so that a tick may be none: in a window of
// half a second it is 2 %.
inline constexpr double kDisturbedShare = 0.02;
inline constexpr double kTickSeconds = 0.01;

// A shorter window is not judged.
inline constexpr double kShortestWindow = 0.1;  // seconds

// The causes that took more from the launch's measured window, a phrase each: "other
// programs had a core for 17.1 % of the time". Empty: the launch was not disturbed, or the system
// proves nothing.
[[nodiscard]] std::vector<std::string> disturbances(const LaunchRecord& record);

// A cell's launches, those that figures are of, and how many were disturbed.
struct CountedLaunches {
  std::vector<const LaunchRecord*> launches;
  int disturbed = 0;
  // Whether disturbed launches are among `launches`: the undisturbed ones are fewer than half.
  bool holds_disturbed = false;
};

// Takes the undisturbed ones of a cell's measured launches; all, where fewer than half are
// undisturbed.
[[nodiscard]] CountedLaunches counted(const std::vector<const LaunchRecord*>& measured);

}  // namespace tandem::results
