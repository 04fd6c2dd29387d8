// SPDX-License-Identifier: Apache-2.0
#include "reports/answer/choices.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "common/options/strategies.h"
#include "reports/model/subject.h"
#include "reports/text/format.h"

namespace tandem::reports {
namespace {

using enum options::StrategyKind;

constexpr std::size_t kMostRows = 12;

// The pair's strategy that leads, by its centre where the verdict is open.
const CellSummary& leader(const StrategyPair& pair) {
  return pair.ddp_speed.center >= 1 ? *pair.ddp : *pair.dp;
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

// The end of a speed's interval that is certain, where the interval is too wide.
std::string over(const stats::Estimate& speed, std::string_view other) {
  if (!is_too_wide(speed)) return fmt::format("{} over {}", ratio_text(speed), other);
  const bool is_faster = speed.interval && speed.interval->low > 1;
  return is_faster ? fmt::format("at least {} over {}", factor_text(speed.interval->low), other)
                   : std::string(kTooWide);
}

// What is known against one device, where the faster strategy is not clearly faster than it.
std::string against_one(const CellSummary& best) {
  if (!best.speedup) return best.cell.is_simulated() ? "" : " (one device was not measured)";
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
  return {best.cell.strategy + against_one(best), over(lead_of(pair), other.cell.strategy)};
}

// The label without what a projection's mark says: that it is simulated, and where.
std::string label_beside_mark(const results::Cell& cell) {
  return strategy_label(cell.is_simulated() ? asked_cell(cell) : cell);
}

// The workload without its marks.
std::string point_of(const StrategyPair& pair, bool with_devices) {
  const results::Cell& cell = pair.dp->cell;
  std::string text =
      with_devices ? point_text(cell) : fmt::format("{}, batch {}", cell.model, cell.global_batch);
  text += precision_suffix(cell);
  const std::string dp = label_beside_mark(pair.dp->cell);
  const std::string ddp = label_beside_mark(pair.ddp->cell);
  const bool is_usual = dp == cell.strategy && ddp == pair.ddp->cell.strategy;
  const bool is_unmarked = is_plain(cell) && is_plain(pair.ddp->cell);
  return is_usual || is_unmarked ? text : text + fmt::format(" ({} / {})", dp, ddp);
}

}  // namespace

bool is_slower_than_single(const CellSummary& cell) {
  return cell.speedup && stats::judge(*cell.speedup) == stats::Verdict::kSlower;
}

bool is_faster_than_single(const CellSummary& cell) {
  return cell.speedup && stats::judge(*cell.speedup) == stats::Verdict::kFaster;
}

std::string marks_text(const StrategyPair& pair) {
  std::vector<std::string> marks;
  if (pair.dp->oversubscribed || pair.ddp->oversubscribed) marks.emplace_back("oversubscribed");
  if (std::string mark = modelled_mark(*pair.dp); !mark.empty()) marks.push_back(std::move(mark));
  for (const CellSummary* cell : {pair.dp, pair.ddp}) {
    if (!cell->planted.empty()) marks.push_back(cell->cell.strategy + " planted: " + cell->planted);
  }
  if (pair.dp->mode != "synchronous") marks.push_back(pair.dp->mode);
  return marks.empty() ? "" : " (" + join(marks, ", ") + ")";
}

bool counts(const StrategyPair& pair) {
  return on_several_devices(pair) && !pair.dp->cell.is_pretended();
}

std::string place_of(const Summary& summary, const StrategyPair& pair, bool with_devices) {
  const std::string marks = marks_text(pair);
  const bool is_shared = std::ranges::all_of(
      summary.comparisons, [&](const StrategyPair& other) { return marks_text(other) == marks; });
  return point_of(pair, with_devices) + (is_projected(summary) && is_shared ? "" : marks);
}

TextTable choice_table(const Summary& summary, const std::vector<const StrategyPair*>& pairs) {
  // A projection's intervals are of the method's errors.
  const char* const factor = is_projected(summary) ? ">factor [by errors]" : ">factor [95 %]";
  TextTable table({"workload", "->one device", "->dp", "->ddp", "->bound", "use", factor});
  std::size_t left_out = 0;
  for (const StrategyPair* pair : pairs) {
    if (!counts(*pair)) continue;
    if (table.rows.size() == kMostRows) {
      ++left_out;
      continue;
    }
    const Use use = use_of(*pair);
    table.rows.push_back(
        {place_of(summary, *pair),
         step_text(baseline_of(*pair->ddp, pair->ddp->cell.global_batch, summary.cells)),
         step_text(pair->dp), step_text(pair->ddp), step_text(bound_of(*pair, summary)), use.what,
         use.factor});
  }
  if (left_out > 0) {
    table.rows.push_back({fmt::format("and {} more", left_out), "-", "-", "-", "-", "-", "-"});
  }
  return table;
}

Bars step_bars(const StrategyPair& pair, const Summary& summary) {
  Bars bars{.caption = fmt::format("Median step of {}:", place_of(summary, pair))};
  const auto add = [&](const char* label, const CellSummary* cell) {
    if (cell == nullptr || is_too_wide(cell->median_step)) return;
    const double seconds = cell->median_step.center;
    bars.bars.push_back({.label = label, .length = seconds, .figure = duration_text(seconds)});
  };
  add("one device", baseline_of(*pair.ddp, pair.ddp->cell.global_batch, summary.cells));
  add("dp", pair.dp);
  add("ddp", pair.ddp);
  add(kNoCommunication, bound_of(pair, summary));
  return bars;
}

}  // namespace tandem::reports
