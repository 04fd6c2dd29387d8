// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/cell_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/format.h"
#include "reports/model/phases.h"

namespace tandem::reports {
namespace {

using Align = Table::Align;

constexpr const char* kNone = "-";

std::vector<std::string> point_columns(const results::Cell& cell) {
  return {cell.model, std::to_string(cell.global_batch), std::to_string(cell.devices)};
}

// "no baseline" instead of a dash, which would mean that a speed-up makes no sense here.
std::string speedup_text(const CellSummary& summary) {
  if (summary.cell.strategy == "single") return kNone;
  return summary.speedup ? ratio_text(*summary.speedup) : "no baseline";
}

std::string efficiency_text(const CellSummary& summary) {
  const std::optional<stats::Estimate> efficiency = summary.efficiency();
  if (!efficiency || summary.cell.devices == 1) return kNone;
  return whole_percent_text(*efficiency) + (summary.efficiency_above_one() ? " (!)" : "");
}

// The text "41.2 (58 %)": the achieved GFLOP/s and their share of the measured peak.
std::string flops_text(const CellSummary& summary) {
  const std::optional<double> achieved = summary.device_gflops();
  if (!achieved) return kNone;
  const std::string text =
      rate_text({.center = *achieved, .interval = std::nullopt, .launches = 0});
  const std::optional<double> share = summary.peak_share();
  return share ? fmt::format("{} ({:.0f} %)", text, 100 * *share) : text;
}

std::string status_text(const CellSummary& summary) {
  return fmt::format("{}: {}", to_string(summary.status), summary.reason);
}

std::vector<std::string> cell_row(const CellSummary& summary) {
  std::vector<std::string> row = point_columns(summary.cell);
  row.push_back(strategy_label(summary.cell));
  if (summary.launches == 0) {
    row.insert(row.end(), {"0", kNone, kNone, kNone, kNone, kNone, status_text(summary)});
    return row;
  }
  row.insert(row.end(),
             {std::to_string(summary.launches), duration_text(summary.median_step),
              rate_text(summary.throughput), speedup_text(summary), efficiency_text(summary),
              flops_text(summary), join(marks_of(summary), ", ")});
  return row;
}

std::vector<std::string> brief_row(const CellSummary& summary) {
  std::vector<std::string> row = point_columns(summary.cell);
  row.push_back(strategy_label(summary.cell));
  row.push_back(std::to_string(summary.launches));
  if (summary.launches == 0) {
    row.insert(row.end(), {kNone, kNone, kNone, status_text(summary)});
    return row;
  }
  stats::Estimate rate = summary.throughput;
  if (!is_unbounded(rate)) rate = {.center = rate.center, .interval = std::nullopt, .launches = 0};
  row.insert(row.end(), {duration_text(summary.median_step), rate_text(rate), speedup_text(summary),
                         join(marks_of(summary), ", ")});
  return row;
}

// Marks a modelled comparison, which must not look like a measured one.
std::string verdict_text(const Comparison& pair) {
  const std::string verdict(to_string(pair.ddp_verdict));
  return pair.dp->modelled.empty() ? verdict : verdict + " (modelled: " + pair.dp->modelled + ")";
}

std::vector<std::string> phase_names(const Summary& summary) {
  std::vector<std::string> names;
  for (const CellSummary& cell : summary.cells) {
    for (const PhaseMean& phase : cell.phases) {
      if (std::find(names.begin(), names.end(), phase.name) == names.end()) {
        names.push_back(phase.name);
      }
    }
  }
  return in_step_order(names);
}

std::string share_text(double seconds, const CellSummary& summary) {
  return fmt::format("{:.3f} ({:.0f} %)", seconds * 1e3, 100 * seconds / summary.mean_step.center);
}

std::string phase_cell(const CellSummary& summary, const std::string& name) {
  for (const PhaseMean& phase : summary.phases) {
    if (phase.name == name) return share_text(phase.seconds, summary);
  }
  return kNone;
}

}  // namespace

Table cell_table(const Summary& summary) {
  Table table;
  table.columns = {{"model", Align::kLeft},
                   {"batch", Align::kRight},
                   {"devices", Align::kRight},
                   {"strategy", Align::kLeft},
                   {"launches", Align::kRight},
                   {"median step [95 %]", Align::kRight},
                   {"samples/s [95 %]", Align::kRight},
                   {"speed-up vs single", Align::kRight},
                   {"efficiency vs single", Align::kRight},
                   {"GFLOP/s per device (of peak)", Align::kRight},
                   {"remarks", Align::kLeft}};
  for (const CellSummary& cell : summary.cells) table.rows.push_back(cell_row(cell));
  return table;
}

Table brief_cell_table(const Summary& summary) {
  Table table;
  table.columns = {{"model", Align::kLeft},      {"batch", Align::kRight},
                   {"dev", Align::kRight},       {"strategy", Align::kLeft},
                   {"n", Align::kRight},         {"median step [95 %]", Align::kRight},
                   {"samples/s", Align::kRight}, {"vs single [95 %]", Align::kRight},
                   {"remarks", Align::kLeft}};
  for (const CellSummary& cell : summary.cells) table.rows.push_back(brief_row(cell));
  return table;
}

Table comparison_table(const Summary& summary) {
  Table table;
  table.columns = {{"model", Align::kLeft},     {"batch", Align::kRight},
                   {"devices", Align::kRight},  {"dp", Align::kLeft},
                   {"ddp", Align::kLeft},       {"speed of ddp / dp [95 %]", Align::kRight},
                   {"launches", Align::kRight}, {"ddp is", Align::kLeft}};
  for (const Comparison& pair : summary.comparisons) {
    std::vector<std::string> row = point_columns(pair.dp->cell);
    row.insert(row.end(), {strategy_label(pair.dp->cell), strategy_label(pair.ddp->cell),
                           ratio_text(pair.ddp_speed), std::to_string(pair.ddp_speed.launches),
                           verdict_text(pair)});
    table.rows.push_back(row);
  }
  return table;
}

Table phase_table(const Summary& summary) {
  const std::vector<std::string> names = phase_names(summary);
  Table table;
  table.columns = {{"model", Align::kLeft},
                   {"batch", Align::kRight},
                   {"devices", Align::kRight},
                   {"strategy", Align::kLeft},
                   {"mean step, ms", Align::kRight}};
  for (const std::string& name : names) table.columns.push_back({name, Align::kRight});
  table.columns.push_back({"remainder", Align::kRight});
  for (const CellSummary& cell : summary.cells) {
    if (cell.phases.empty()) continue;
    std::vector<std::string> row = point_columns(cell.cell);
    row.push_back(strategy_label(cell.cell));
    row.push_back(fmt::format("{:.3f}", cell.mean_step.center * 1e3));
    for (const std::string& name : names) row.push_back(phase_cell(cell, name));
    row.push_back(share_text(cell.remainder_seconds, cell));
    table.rows.push_back(row);
  }
  return table;
}

}  // namespace tandem::reports
