// SPDX-License-Identifier: Apache-2.0
#include "reports/model/reason.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "reports/model/ladder.h"
#include "reports/model/phases.h"
#include "reports/text/phase_words.h"

namespace tandem::reports {
namespace {

using results::LaunchRecord;

std::string percents(const std::vector<const Reason*>& reasons) {
  const auto [least, most] = std::ranges::minmax_element(reasons, {}, &Reason::share);
  const std::string low = fmt::format("{:.0f}", 100 * (*least)->share);
  const std::string high = fmt::format("{:.0f}", 100 * (*most)->share);
  return low == high ? low : low + " to " + high;
}

}  // namespace

std::optional<Reason> reason_of(const StrategyPair& pair) {
  if (pair.ddp_verdict == stats::Verdict::kNotResolved) return std::nullopt;
  const bool is_ddp_faster = pair.ddp_verdict == stats::Verdict::kFaster;
  const CellSummary& slower = is_ddp_faster ? *pair.dp : *pair.ddp;
  const CellSummary& faster = is_ddp_faster ? *pair.ddp : *pair.dp;
  if (!have_phases(slower.measured) || !have_phases(faster.measured)) return std::nullopt;
  Reason reason{.slower = &slower, .phase = {}};
  for (const PhaseMean& phase : slower.phases) {
    const stats::Estimate more =
        difference(slower.measured, faster.measured, [&](const LaunchRecord& record) {
          return phase_seconds(*critical_device(record), phase.name);
        });
    if (more.center <= reason.more.center || !stats::is_resolved(more)) continue;
    reason.phase = phase.name;
    reason.more = more;
    reason.share = phase.seconds / slower.mean_step.center;
  }
  return reason;
}

std::string because(const std::vector<Reason>& reasons) {
  if (reasons.empty()) return "";
  std::map<std::string, std::vector<const Reason*>> by_phase;
  for (const Reason& reason : reasons) {
    if (!reason.phase.empty()) by_phase[reason.phase].push_back(&reason);
  }
  if (by_phase.empty()) return " (why is open: no phase's difference is resolved)";
  const auto& [phase, alike] = *std::ranges::max_element(
      by_phase, {}, [](const auto& entry) { return entry.second.size(); });
  const std::string where = alike.size() == reasons.size()
                                ? ""
                                : fmt::format("in {} of {} ", alike.size(), reasons.size());
  return fmt::format(", {}above all because {} spends {} % of its step {}", where,
                     alike.front()->slower->cell.strategy, percents(alike), doing_in(phase));
}

}  // namespace tandem::reports
