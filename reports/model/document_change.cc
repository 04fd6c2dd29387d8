// SPDX-License-Identifier: Apache-2.0
#include "reports/model/document_change.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "common/stats/comparison.h"
#include "reports/model/change_notes.h"
#include "reports/model/marks.h"
#include "reports/text/format.h"

namespace tandem::reports {

namespace {

using stats::Change;

// The speeds of one core that the cell's preset links were scaled to.
std::set<double> core_speeds(const CellSummary& cell) {
  std::set<double> speeds;
  if (cell.modelled.find("scaled") == std::string::npos) return speeds;
  for (const results::LaunchRecord* launch : cell.measured) speeds.insert(launch->core_gflops);
  return speeds;
}

bool on_one_link(const CellSummary& before, const CellSummary& after) {
  return core_speeds(before) == core_speeds(after);
}

bool can_be_told(const CellChange& cell) {
  return cell.before->launches >= 2 && cell.after->launches >= 2 &&
         on_one_link(*cell.before, *cell.after);
}

// Adds the cell's marks as "A: drifts: ...", without the letter where both documents have the mark.
void add_marks(CellChange& cell, const DocumentNames& names) {
  const std::vector<std::string> before = marks_of(*cell.before);
  const std::vector<std::string> after = marks_of(*cell.after);
  const auto holds = [](const std::vector<std::string>& list, const std::string& mark) {
    return std::find(list.begin(), list.end(), mark) != list.end();
  };
  for (const std::string& mark : before) {
    cell.remarks.push_back(holds(after, mark) ? mark : names.before + ": " + mark);
  }
  for (const std::string& mark : after) {
    if (!holds(before, mark)) cell.remarks.push_back(names.after + ": " + mark);
  }
}

void judge(CellChange& cell, double confidence, const ChangeRule& rule) {
  cell.time_ratio =
      stats::ratio_by_t(cell.after->medians, cell.before->medians, confidence, rule.between_runs);
  cell.rank_ratio = stats::hodges_lehmann_ratio(cell.after->medians, cell.before->medians);
  cell.rank_p = stats::mann_whitney(cell.after->medians, cell.before->medians).p;
  cell.change = stats::judge_change(cell.time_ratio, rule.threshold);
  const bool is_change =
      cell.change == stats::Change::kSlower || cell.change == stats::Change::kFaster;
  if (is_change && stats::is_beyond(cell.time_ratio, rule.threshold)) {
    cell.remarks.push_back(fmt::format("by more than {:g} %", 100 * rule.threshold));
  }
  // The p of a rank test has to meet the confidence that so many intervals need to hold together.
  // Ranks do not know the deviation between runs.
  if (cell.change == stats::Change::kUnsure && rule.between_runs == 0 &&
      cell.rank_p < 1 - confidence) {
    cell.remarks.push_back(
        fmt::format("wild launches widen the interval: by ranks {}", ratio_text(cell.rank_ratio)));
  }
}

// Leaves a ratio without an interval, and says why.
void leave_unsure(CellChange& cell) {
  cell.time_ratio = stats::ratio_of_medians(cell.after->medians, cell.before->medians);
  cell.time_ratio.interval.reset();
  cell.rank_ratio = cell.time_ratio;
  cell.remarks.emplace_back(on_one_link(*cell.before, *cell.after)
                                ? "a single launch does not tell how launches vary"
                                : "links were scaled to different core speeds: not the same link");
}

std::vector<CellChange> common_cells(const Summary& before, const Summary& after) {
  std::map<CellIdentity, const CellSummary*> found;
  for (const CellSummary& cell : after.cells) {
    if (cell.launches > 0) found.emplace(identity_of(cell), &cell);
  }
  std::vector<CellChange> cells;
  for (const CellSummary& cell : before.cells) {
    const auto place = found.find(identity_of(cell));
    if (cell.launches == 0 || place == found.end()) continue;
    CellChange common;
    common.before = &cell;
    common.after = place->second;
    cells.push_back(common);
  }
  return cells;
}

}  // namespace

std::string change_ratio_text(const stats::Estimate& ratio) {
  const auto is_usual = [](double value) { return value >= 0.01 && value < 100; };
  const bool usual =
      is_usual(ratio.center) &&
      (!ratio.interval || (is_usual(ratio.interval->low) && is_usual(ratio.interval->high)));
  if (!usual) return ratio_text(ratio);
  if (!ratio.interval) return fmt::format("{:.3f}x", ratio.center);
  return fmt::format("{:.3f}x [{:.3f} .. {:.3f}]", ratio.center, ratio.interval->low,
                     ratio.interval->high);
}

std::string change_method(const DocumentChange& changes, const DocumentNames& names) {
  if (changes.confidence == 0) return "No cell has two launches on both sides: nothing is judged.";
  const double between = changes.rule.between_runs;
  return fmt::format(
      "Ratios of launch medians; above 1 {} is slower. The intervals hold together with 95 %, each "
      "with {:.4g} %{}. SAME: within {:g} % either way. UNSURE: too wide to tell; more launches "
      "narrow it.",
      names.after, 100 * changes.confidence,
      between > 0 ? fmt::format(", and hold a scatter of {:g} % between runs", 100 * between) : "",
      100 * changes.rule.threshold);
}

std::string change_counts(const DocumentChange& changes) {
  std::vector<std::string> parts;
  for (const Change change : kChanges) {
    parts.push_back(fmt::format("{} {}", changes.count(change), to_string(change)));
  }
  return fmt::format("{}: {}.", count_text(std::ssize(changes.cells), "cell"), join(parts, ", "));
}

CellIdentity identity_of(const CellSummary& cell) {
  return {cell.cell.name(), cell.cell.backend, cell.mode, cell.modelled, cell.planted};
}

int DocumentChange::count(stats::Change change) const {
  return static_cast<int>(std::count_if(
      cells.begin(), cells.end(), [&](const CellChange& cell) { return cell.change == change; }));
}

DocumentChange compare_documents(const results::Document& before, const Summary& before_summary,
                                 const results::Document& after, const Summary& after_summary,
                                 const ChangeRule& rule, const DocumentNames& names) {
  DocumentChange result;
  result.rule = rule;
  result.cells = common_cells(before_summary, after_summary);
  const auto compared = std::count_if(result.cells.begin(), result.cells.end(), can_be_told);
  if (compared > 0) {
    result.confidence = stats::confidence_of_each(static_cast<std::size_t>(compared));
  }
  for (CellChange& cell : result.cells) {
    if (can_be_told(cell)) {
      judge(cell, result.confidence, rule);
    } else {
      leave_unsure(cell);
    }
    add_marks(cell, names);
  }
  result.notes = change_notes(before, after, names);
  for (std::string& line : lonely_cells(before_summary, after_summary, result.cells, names)) {
    result.notes.push_back(std::move(line));
  }
  return result;
}

}  // namespace tandem::reports
