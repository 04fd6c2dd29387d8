// SPDX-License-Identifier: Apache-2.0
#include "reports/model/marks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "reports/model/gpu_notes.h"
#include "reports/text/format.h"

namespace tandem::reports {

std::vector<std::string> marks_of(const CellSummary& summary) {
  constexpr double kMostRemainder = 0.02;
  std::vector<std::string> marks;
  if (summary.oversubscribed) marks.emplace_back("oversubscribed");
  if (summary.devices_used > 0 && summary.devices_used < summary.cell.devices) {
    marks.push_back(fmt::format("only {} used", count_text(summary.devices_used, "device")));
  }
  if (summary.cell.is_pretended()) marks.emplace_back("pretended");
  if (summary.cell.is_simulated()) marks.emplace_back("simulated");
  if (!summary.modelled.empty()) marks.push_back("modelled: " + summary.modelled);
  if (!summary.planted.empty()) marks.push_back("planted: " + summary.planted);
  if (summary.mode != "synchronous") marks.push_back(summary.mode);
  if (summary.efficiency_above_one()) marks.emplace_back("efficiency above 100 %");
  if (std::abs(summary.remainder_share()) > kMostRemainder) {
    marks.push_back(
        fmt::format("{:.1f} % of the step in no phase", 100 * summary.remainder_share()));
  }
  if (has_unfused_attention(summary)) marks.emplace_back("attention not fused");
  if (has_tf32_convolutions(summary)) marks.emplace_back("tf32 convolutions");
  for (const std::string& mark :
       {slowdown_mark(summary), clock_mark(summary), transfers_mark(summary)}) {
    if (!mark.empty()) marks.push_back(mark);
  }
  for (std::string& mark : unsteady_marks(summary.unsteadiness)) marks.push_back(std::move(mark));
  if (summary.holds_disturbed) {
    marks.push_back(fmt::format("disturbed: {} of {}", summary.disturbed_launches,
                                count_text(summary.launches, "launch")));
  }
  if (summary.launches > 0 && summary.failed_launches > 0) {
    marks.push_back(fmt::format("{} failed", count_text(summary.failed_launches, "launch")));
  }
  return marks;
}

std::string disturbed_words(const StrategyPair& pair, const std::string& dp,
                            const std::string& ddp) {
  const bool is_dp = pair.dp->holds_disturbed;
  const bool is_ddp = pair.ddp->holds_disturbed;
  if (!is_dp && !is_ddp) return "";
  const std::string whose = is_dp && is_ddp ? "" : " of " + (is_dp ? dp : ddp);
  return fmt::format("; most launches{} were disturbed (others took their time)", whose);
}

std::vector<std::string> unsteady_marks(const Unsteadiness& found) {
  std::vector<std::string> marks;
  if (found.drift) {
    marks.push_back(
        fmt::format("drifts: {:+.1f} % from first to last launch", 100 * found.drift->change));
  }
  if (found.modes) {
    marks.push_back(fmt::format("two modes: {} at {}, {} at {}",
                                count_text(found.modes->low_count, "launch"),
                                duration_text(found.modes->low), found.modes->high_count,
                                duration_text(found.modes->high)));
  }
  if (found.steps_in_modes()) {
    marks.push_back(fmt::format("steps in two modes in {} of {}", found.launches_in_modes,
                                count_text(found.launches_with_enough_steps, "launch")));
  }
  return marks;
}

std::set<std::string> settled(const CellSummary& cell, const std::string& option) {
  std::set<std::string> values;
  for (const results::LaunchRecord* launch : cell.measured) {
    const auto found = launch->resolved.find(option);
    if (found != launch->resolved.end()) values.insert(found->second);
  }
  return values;
}

bool has_unfused_attention(const CellSummary& cell) {
  return std::ranges::any_of(settled(cell, "attention"), results::is_unfused);
}

bool has_tf32_convolutions(const CellSummary& cell) {
  return cell.cell.option("precision", "fp32") == "fp32" &&
         std::ranges::any_of(settled(cell, "convolutions"),
                             [](const auto& by) { return by.ends_with(", tf32"); });
}

std::string transfers_mark(const CellSummary& cell) {
  std::vector<std::string> by_collectives;
  for (const auto& [option, what] : {std::pair{"broadcast", "weights"}, {"reduce", "gradients"}}) {
    const std::set<std::string> values = settled(cell, option);
    if (values.size() > 1) return std::string(what) + " not sent alike in all launches";
    if (values.contains("collective") && !cell.cell.options.contains(option)) {
      by_collectives.emplace_back(what);
    }
  }
  return by_collectives.empty() ? "" : join(by_collectives, " and ") + " by collectives";
}

}  // namespace tandem::reports
