// SPDX-License-Identifier: Apache-2.0
#include "reports/answer/choices.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/options/strategies.h"
#include "reports/model/subject.h"
#include "reports/text/format.h"

namespace tandem::reports {
namespace {

using enum options::StrategyKind;

constexpr std::size_t kMostRows = 12;
constexpr std::size_t kMostNames = 4;

bool counts(const StrategyPair& pair) {
  return on_several_devices(pair) && !pair.dp->cell.is_pretended();
}

// The pair's strategy that leads, by its centre where the verdict is open.
const CellSummary& leader(const StrategyPair& pair) {
  return pair.ddp_speed.center >= 1 ? *pair.ddp : *pair.dp;
}

std::string place_of(const StrategyPair& pair) {
  std::string text = point_text(pair.dp->cell) + precision_suffix(pair.dp->cell);
  if (!is_plain(pair.dp->cell) || !is_plain(pair.ddp->cell)) {
    text +=
        fmt::format(" ({} / {})", strategy_label(pair.dp->cell), strategy_label(pair.ddp->cell));
  }
  return text + marks_text(pair);
}

// The faster of both launches of the bound; null where neither was measured.
const CellSummary* bound_of(const StrategyPair& pair, const Summary& summary) {
  const CellSummary* best = nullptr;
  for (const CellSummary& cell : of_same_workload(summary.cells, pair.ddp->cell)) {
    if (cell.cell.strategy != name_of(kIndependent) || cell.launches == 0) continue;
    const bool is_alike = cell.mode == pair.ddp->mode && same_point(cell, *pair.ddp) &&
                          cell.oversubscribed == pair.ddp->oversubscribed &&
                          implementation_of(cell.cell) == implementation_of(pair.ddp->cell);
    if (!is_alike) continue;
    if (best == nullptr || cell.median_step.center < best->median_step.center) best = &cell;
  }
  return best;
}

std::string step_text(const CellSummary* cell) {
  if (cell == nullptr) return "-";
  return is_too_wide(cell->median_step) ? std::string(kTooWide)
                                        : duration_text(cell->median_step.center);
}

struct Use {
  std::string what;
  std::string factor;
};

std::string over(const stats::Estimate& speed, std::string_view other) {
  return is_too_wide(speed) ? std::string(kTooWide)
                            : fmt::format("{} over {}", ratio_text(speed), other);
}

bool is_faster_than_single(const CellSummary& cell) {
  return cell.speedup && stats::judge(*cell.speedup) == stats::Verdict::kFaster;
}

// What is known against one device, where the faster strategy is not clearly faster than it.
std::string against_one(const CellSummary& best) {
  if (!best.speedup) return " (one device was not measured)";
  return is_faster_than_single(best) ? "" : " (no faster than one device)";
}

Use use_of(const StrategyPair& pair) {
  const CellSummary& best = leader(pair);
  const bool is_ddp = &best == pair.ddp;
  const bool is_resolved = pair.ddp_verdict != stats::Verdict::kNotResolved;
  const CellSummary& other = is_ddp ? *pair.dp : *pair.ddp;
  if (is_slower_than_single(best) && (is_resolved || is_slower_than_single(other))) {
    return {"one device", over(stats::rate(1, *best.speedup), best.cell.strategy)};
  }
  if (!is_resolved) {
    return {pair.equal_within ? equal_text(*pair.equal_within) : "not resolved",
            over(pair.ddp_speed, "dp")};
  }
  return {best.cell.strategy + against_one(best),
          over(is_ddp ? pair.ddp_speed : stats::rate(1, pair.ddp_speed), other.cell.strategy)};
}

std::string slower_strategies(const StrategyPair& pair) {
  std::vector<std::string> parts;
  for (const CellSummary* cell : {pair.dp, pair.ddp}) {
    if (!is_slower_than_single(*cell)) continue;
    const stats::Estimate& speed = *cell->speedup;
    parts.push_back(cell->cell.strategy +
                    (is_too_wide(speed)
                         ? fmt::format(", {}", kTooWide)
                         : fmt::format(" has {} its speed", factor_text(speed.center))));
  }
  return join(parts, ", ");
}

}  // namespace

bool is_slower_than_single(const CellSummary& cell) {
  return cell.speedup && stats::judge(*cell.speedup) == stats::Verdict::kSlower;
}

std::string marks_text(const StrategyPair& pair) {
  std::vector<std::string> marks;
  if (pair.dp->oversubscribed || pair.ddp->oversubscribed) marks.emplace_back("oversubscribed");
  if (!pair.dp->modelled.empty()) marks.push_back("modelled: " + pair.dp->modelled);
  for (const CellSummary* cell : {pair.dp, pair.ddp}) {
    if (!cell->planted.empty()) marks.push_back(cell->cell.strategy + " planted: " + cell->planted);
  }
  if (pair.dp->mode != "synchronous") marks.push_back(pair.dp->mode);
  return marks.empty() ? "" : " (" + join(marks, ", ") + ")";
}

std::string slower_text(const std::vector<const StrategyPair*>& pairs) {
  std::vector<std::string> places;
  for (const StrategyPair* pair : pairs) {
    const std::string slower = counts(*pair) ? slower_strategies(*pair) : "";
    if (!slower.empty()) places.push_back(fmt::format("{} ({})", place_of(*pair), slower));
  }
  if (places.empty()) return "";
  if (places.size() > kMostNames) {
    const std::string more = fmt::format("and {} more", places.size() - kMostNames);
    places.resize(kMostNames);
    places.push_back(more);
  }
  return "Several devices are slower than one: " + join(places, "; ") + ".";
}

std::string gain_text(const std::vector<const StrategyPair*>& pairs) {
  const StrategyPair* place = nullptr;
  const CellSummary* most = nullptr;
  for (const StrategyPair* pair : pairs) {
    if (!counts(*pair)) continue;
    for (const CellSummary* cell : {pair->dp, pair->ddp}) {
      if (!is_faster_than_single(*cell) || is_too_wide(*cell->speedup)) continue;
      if (most != nullptr && most->speedup->center >= cell->speedup->center) continue;
      place = pair;
      most = cell;
    }
  }
  if (most == nullptr) return "";
  return fmt::format(" Several devices gain most on {}: {} has {} the speed of one.",
                     place_of(*place), most->cell.strategy, factor_text(most->speedup->center));
}

TextTable choice_table(const Summary& summary, const std::vector<const StrategyPair*>& pairs) {
  TextTable table({"workload", ">one device", ">dp", ">ddp", ">bound", "use", ">factor [95 %]"});
  std::size_t left_out = 0;
  for (const StrategyPair* pair : pairs) {
    if (!counts(*pair)) continue;
    if (table.rows.size() == kMostRows) {
      ++left_out;
      continue;
    }
    const Use use = use_of(*pair);
    table.rows.push_back(
        {place_of(*pair),
         step_text(baseline_of(*pair->ddp, pair->ddp->cell.global_batch, summary.cells)),
         step_text(pair->dp), step_text(pair->ddp), step_text(bound_of(*pair, summary)), use.what,
         use.factor});
  }
  if (left_out > 0) {
    table.rows.push_back({fmt::format("and {} more", left_out), "-", "-", "-", "-", "-", "-"});
  }
  return table;
}

}  // namespace tandem::reports
