// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "common/options/strategies.h"
#include "common/stats/summary.h"
#include "reports/model/notes.h"
#include "reports/model/subject.h"
#include "reports/tables/tables.h"
#include "reports/text/format.h"
#include "reports/text/section_words.h"

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
    const bool is_its_own =
        other.cell.strategy == name_of(kSingle) && other.launches > 0 && same_point(other, wrapped);
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
  return std::ranges::any_of(summary.cells, [](const CellSummary& cell) {
    return cell.launches > 0 && !implementation_of(cell.cell).empty();
  });
}

bool reduces_by_gloo(const CellSummary& cell) {
  if (cell.cell.strategy != name_of(kDdp) || cell.cell.devices < 2) return false;
  return std::ranges::any_of(cell.measured, [](const auto* record) {
    const auto group = record->resolved.find("process group");
    return group != record->resolved.end() && group->second == "gloo";
  });
}

std::string ratio_cell(const stats::Estimate& ratio) {
  const bool is_resolved = stats::judge(ratio) != stats::Verdict::kNotResolved;
  return ratio_text(ratio) + (is_resolved ? "" : " ~");
}

void add_ratios(TextTable& table, const std::string& what, const std::vector<StepRatio>& ratios) {
  for (const auto& [first, second, ratio] : ratios) {
    const bool is_apart = !implementation_of(first->cell).empty() && has_unfused_attention(*second);
    add_point(
        table, first->cell,
        {strategy_label(first->cell) + what, duration_text(first->median_step),
         duration_text(second->median_step), ratio_cell(ratio) + (is_apart ? " (attention)" : "")});
  }
}

void add(std::vector<StepRatio>& ratios, const CellSummary& of, const CellSummary* over) {
  if (over == nullptr) return;
  ratios.push_back({.of = &of, .over = over, .ratio = ratio_of(of, *over)});
}

}  // namespace

std::vector<StepRatio> twins_of(const Summary& summary) {
  std::vector<StepRatio> twins;
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches == 0 || implementation_of(cell.cell).empty()) continue;
    add(twins, cell, counterpart_of(cell, summary));
  }
  return twins;
}

std::vector<StepRatio> wrapper_costs(const Summary& summary) {
  std::vector<StepRatio> costs;
  if (!has_twins(summary)) return costs;
  for (const CellSummary& cell : summary.cells) {
    if (is_wrapper_alone(cell)) add(costs, cell, single_of(cell, summary));
  }
  return costs;
}

const Heading& twin_heading(const Summary& summary) {
  return sole_implementation(summary).empty() ? kTwin : kWrappers;
}

std::string twin_note(const Summary& summary) {
  if (!sole_implementation(summary).empty()) return std::string(kWrappers.hint);
  const std::vector<StepRatio> twins = twins_of(summary);
  const auto any = [&](auto predicate) {
    return std::ranges::any_of(twins, [&](const StepRatio& pair) { return predicate(*pair.of); });
  };
  std::string note(kTwin.hint);
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
  if (std::ranges::any_of(
          twins, [](const StepRatio& pair) { return has_unfused_attention(*pair.over); })) {
    note +=
        " (attention): nor are the kernels of attention, which one fused kernel computes for "
        "torch, "
        "and products and softmax for Tandem. The ratio holds both kernels along with the rest.";
  }
  return note;
}

TextTable twin_table(const Summary& summary) {
  TextTable table =
      table_of_points({"what", ">median step [95 %]", ">against [95 %]", ">ratio [95 %]"});
  add_ratios(table, ", over Tandem's", twins_of(summary));
  add_ratios(table, " on one device, over single", wrapper_costs(summary));
  return table;
}

}  // namespace tandem::reports
