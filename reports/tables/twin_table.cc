// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/twin_table.h"

#include <algorithm>

#include "common/stats/summary.h"
#include "reports/format.h"
#include "reports/model/subject.h"

namespace tandem::reports {
namespace {

using Align = Table::Align;

const CellSummary* counterpart_of(const CellSummary& theirs, const Summary& summary) {
  const results::Cell own = own_cell(theirs.cell);
  for (const CellSummary& other : of_same_workload(summary.cells, theirs.cell)) {
    if (other.cell == own && other.mode == theirs.mode && other.launches > 0) return &other;
  }
  return nullptr;
}

const CellSummary* single_of(const CellSummary& wrapped, const Summary& summary) {
  for (const CellSummary& other : of_same_workload(summary.cells, wrapped.cell)) {
    const bool is_its_own = other.cell.strategy == "single" && other.launches > 0 &&
                            other.mode == wrapped.mode && other.modelled == wrapped.modelled &&
                            same_question(other.cell, wrapped.cell);
    if (is_its_own) return &other;
  }
  return nullptr;
}

bool is_wrapper_alone(const CellSummary& cell) {
  const std::string& strategy = cell.cell.strategy;
  return cell.cell.devices == 1 && cell.launches > 0 && (strategy == "ddp" || strategy == "dp");
}

bool has_twins(const Summary& summary) {
  return std::any_of(summary.cells.begin(), summary.cells.end(), [](const CellSummary& cell) {
    return cell.launches > 0 && !implementation_of(cell.cell).empty();
  });
}

bool reduces_by_gloo(const CellSummary& cell) {
  if (cell.cell.strategy != "ddp" || cell.cell.devices < 2) return false;
  return std::any_of(cell.measured.begin(), cell.measured.end(), [](const auto* record) {
    const auto group = record->resolved.find("process group");
    return group != record->resolved.end() && group->second == "gloo";
  });
}

std::string ratio_cell(const stats::Estimate& ratio) {
  const bool is_resolved = stats::judge(ratio) != stats::Verdict::kNotResolved;
  return ratio_text(ratio) + (is_resolved ? "" : " ~");
}

std::vector<std::string> row_of(const CellSummary& at, const std::string& what,
                                const CellSummary& first, const CellSummary& second,
                                const stats::Estimate& ratio) {
  return {at.cell.model,
          std::to_string(at.cell.global_batch),
          std::to_string(at.cell.devices),
          what,
          duration_text(first.median_step),
          duration_text(second.median_step),
          ratio_cell(ratio)};
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

Table twin_table(const Summary& summary) {
  Table table;
  table.columns = {{"model", Align::kLeft},
                   {"batch", Align::kRight},
                   {"devices", Align::kRight},
                   {"what", Align::kLeft},
                   {"median step [95 %]", Align::kRight},
                   {"against [95 %]", Align::kRight},
                   {"ratio [95 %]", Align::kRight}};
  for (const Twins& twins : twins_of(summary)) {
    table.rows.push_back(row_of(*twins.theirs,
                                strategy_label(twins.theirs->cell) + ", over Tandem's",
                                *twins.theirs, *twins.ours, twins.speed));
  }
  for (const WrapperCost& cost : wrapper_costs(summary)) {
    table.rows.push_back(row_of(*cost.wrapped,
                                strategy_label(cost.wrapped->cell) + " on one device, over single",
                                *cost.wrapped, *cost.single, cost.ratio));
  }
  return table;
}

}  // namespace tandem::reports
