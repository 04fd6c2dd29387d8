// SPDX-License-Identifier: Apache-2.0
//
// The phases of a step, and which of them makes the slower of dp and ddp slower.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/stats/estimate.h"
#include "reports/model/summary.h"

namespace tandem::reports {

// The device whose phases stand for a launch: the critical device of each sample (the root where
// there is one, else the slowest device), so that phases and remainder add up to the mean step.
// Null where no phases were timed.
[[nodiscard]] const results::DevicePhases* critical_device(const results::LaunchRecord& record);

// Whether the list has launches and each launch has phases.
[[nodiscard]] bool have_phases(const std::vector<const results::LaunchRecord*>& launches);

// Mean seconds per step of a phase; 0 where the device does not have it.
[[nodiscard]] double phase_seconds(const results::DevicePhases& device, const std::string& name);

// Mean phase times of the critical device over the launches, in the order of a step.
[[nodiscard]] std::vector<PhaseMean> mean_phases(
    const std::vector<const results::LaunchRecord*>& launches);

// A device's work in a phase, "adding gradients on device 0", which goes on from "spends 27 % of
// its step"; the name itself of a phase that Tandem does not have.
[[nodiscard]] std::string_view doing_in(std::string_view phase);

// The names of the phases, in the order of a step.
[[nodiscard]] std::span<const std::string_view> step_phases();

// Puts phase names into the order of a step; unknown names come last.
[[nodiscard]] std::vector<std::string> in_step_order(std::vector<std::string> names);

// The phases that any cell has, in the order of a step.
[[nodiscard]] std::vector<std::string> phases_in(const Summary& summary);

// Why the slower of two strategies is slower, by the measured phases of both.
struct Reason {
  const CellSummary* slower = nullptr;
  // The phase that takes longest beyond the faster one's, of those whose difference of means over
  // launches is resolved (95 % each); empty where that is less than a third of the steps'
  // difference.
  std::string phase;
  stats::Estimate more{};  // seconds per step beyond the faster one's
  double share = 0;        // the phase's share of the slower one's mean step
};

// Absent where it is not resolved which of the two is faster, or where phases were not timed. The
// pair's document must outlive the reason.
[[nodiscard]] std::optional<Reason> reason_of(const StrategyPair& pair);

// The sentence " The largest part of the difference: dp spends 9 to 27 % of its step adding
// gradients on device 0.", of comparisons that the same strategy loses; it names the phase of most
// of them, and how many these are where reasons differ. Empty without reasons.
[[nodiscard]] std::string because(const std::vector<Reason>& reasons);

}  // namespace tandem::reports
