// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/twin_table.h"

#include <algorithm>

#include "common/options/strategies.h"
#include "common/stats/summary.h"
#include "reports/model/subject.h"
#include "reports/tables/points.h"
#include "reports/text/format.h"

namespace tandem::reports {
namespace {

using enum options::StrategyKind;

const CellSummary* counterpart_of(const CellSummary& theirs, const Summary& summary) {
  const results::Cell own = own_cell(theirs.cell);
  for (const CellSummary& other : of_same_workload(summary.cells, theirs.cell)) {
    if (other.cell == own && other.mode == theirs.mode && other.launches > 0) return &other;
  }
  return nullptr;
}

const CellSummary* single_of(const CellSummary& wrapped, const Summary& summary) {
  for (const CellSummary& other : of_same_workload(summary.cells, wrapped.cell)) {
    const bool is_its_own = other.cell.strategy == name_of(kSingle) && other.launches > 0 &&
                            other.mode == wrapped.mode && other.modelled == wrapped.modelled &&
                            same_question(other.cell, wrapped.cell);
    if (is_its_own) return &other;
  }
  return nullptr;
}

bool is_wrapper_alone(const CellSummary& cell) {
  const std::string& strategy = cell.cell.strategy;
  return cell.cell.devices == 1 && cell.launches > 0 &&
         (strategy == name_of(kDdp) || strategy == name_of(kDp));
}

bool has_twins(const Summary& summary) {
  return std::any_of(summary.cells.begin(), summary.cells.end(), [](const CellSummary& cell) {
    return cell.launches > 0 && !implementation_of(cell.cell).empty();
  });
}

bool reduces_by_gloo(const CellSummary& cell) {
  if (cell.cell.strategy != name_of(kDdp) || cell.cell.devices < 2) return false;
  return std::any_of(cell.measured.begin(), cell.measured.end(), [](const auto* record) {
    const auto group = record->resolved.find("process group");
    return group != record->resolved.end() && group->second == "gloo";
  });
}

std::string ratio_cell(const stats::Estimate& ratio) {
  const bool is_resolved = stats::judge(ratio) != stats::Verdict::kNotResolved;
  return ratio_text(ratio) + (is_resolved ? "" : " ~");
}

void add_ratio(TextTable& table, const std::string& what, const CellSummary& first,
               const CellSummary& second, const stats::Estimate& ratio) {
  add_point(table, first.cell,
            {strategy_label(first.cell) + what, duration_text(first.median_step),
             duration_text(second.median_step), ratio_cell(ratio)});
}

}  // namespace

std::vector<Twins> twins_of(const Summary& summary) {
  std::vector<Twins> twins;
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches == 0 || implementation_of(cell.cell).empty()) continue;
    const CellSummary* ours = counterpart_of(cell, summary);
    if (ours == nullptr) continue;
    twins.push_back({.theirs = &cell,
                     .ours = ours,
                     .speed = stats::ratio_of_medians(cell.medians, ours->medians)});
  }
  return twins;
}

std::vector<WrapperCost> wrapper_costs(const Summary& summary) {
  std::vector<WrapperCost> costs;
  if (!has_twins(summary)) return costs;
  for (const CellSummary& cell : summary.cells) {
    if (!is_wrapper_alone(cell)) continue;
    const CellSummary* single = single_of(cell, summary);
    if (single == nullptr) continue;
    costs.push_back({.wrapped = &cell,
                     .single = single,
                     .ratio = stats::ratio_of_medians(cell.medians, single->medians)});
  }
  return costs;
}

std::string twin_note(const Summary& summary) {
  const std::vector<Twins> twins = twins_of(summary);
  const auto any = [&](auto predicate) {
    return std::any_of(twins.begin(), twins.end(),
                       [&](const Twins& pair) { return predicate(*pair.theirs); });
  };
  std::string note(kTwinNote);
  if (any([](const CellSummary& cell) { return cell.cell.backend == "host"; })) {
    note +=
        " Not the same on a CPU: torch uses the batch where it lies, Tandem copies it into the "
        "device's memory in each step, which favours torch.";
  }
  if (any(reduces_by_gloo)) {
    note +=
        " Nor is the transport of ddp's gradients: gloo, over TCP, for torch; Tandem's own, shared "
        "memory within a node, for Tandem. The ratio of ddp compares both along with the rest.";
  }
  return note;
}

TextTable twin_table(const Summary& summary) {
  TextTable table =
      table_of_points({"what", ">median step [95 %]", ">against [95 %]", ">ratio [95 %]"});
  for (const Twins& twins : twins_of(summary)) {
    add_ratio(table, ", over Tandem's", *twins.theirs, *twins.ours, twins.speed);
  }
  for (const WrapperCost& cost : wrapper_costs(summary)) {
    add_ratio(table, " on one device, over single", *cost.wrapped, *cost.single, cost.ratio);
  }
  return table;
}

}  // namespace tandem::reports
