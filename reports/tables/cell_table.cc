// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/cell_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "common/base/units.h"
#include "reports/format.h"
#include "reports/model/phases.h"

namespace tandem::reports {

namespace {

using Align = Table::Align;

constexpr const char* kNone = "-";

// A table whose rows begin with a cell's model, batch, devices and strategy, followed by `figures`.
Table table_of_points(const std::vector<std::string>& figures) {
  using enum Table::Align;
  Table table{.columns = {{"model", kLeft}, {"batch", kRight}, {"devices", kRight}, {"strategy"}},
              .rows = {}};
  for (const std::string& figure : figures) table.columns.push_back({figure, kRight});
  return table;
}

// The first fields of a row of that table.
std::vector<std::string> point_fields(const CellSummary& cell) {
  return {cell.cell.model, std::to_string(cell.cell.global_batch),
          std::to_string(cell.cell.devices), strategy_label(cell.cell)};
}

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
  std::vector<std::string> row = point_fields(summary);
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
  std::vector<std::string> row = point_fields(summary);
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

// The key that a synchronous cell shares with its free-running counterpart.
std::pair<std::string, std::string> place_of(const CellSummary& summary) {
  results::Cell cell = summary.cell;
  cell.options.erase("free-running");
  return {cell.backend, cell.name()};
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
    std::vector<std::string> row = point_fields(cell);
    row.push_back(fmt::format("{:.3f}", cell.mean_step.center * 1e3));
    for (const std::string& name : names) row.push_back(phase_cell(cell, name));
    row.push_back(share_text(cell.remainder_seconds, cell));
    table.rows.push_back(row);
  }
  return table;
}

Table weak_table(const Summary& summary) {
  Table table = table_of_points(
      {"batch per device", "efficiency of weak scaling [95 %]", "speed-up of weak scaling [95 %]"});
  for (const CellSummary& cell : summary.cells) {
    if (!cell.weak_efficiency || cell.cell.devices < 2) continue;
    const stats::Estimate& weak = *cell.weak_efficiency;
    std::vector<std::string> row = point_fields(cell);
    row.insert(row.end(), {std::to_string(cell.cell.global_batch / cell.cell.devices),
                           whole_percent_text(weak),
                           ratio_text(stats::divided(weak, 1.0 / cell.cell.devices))});
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table mode_table(const Summary& summary) {
  Table table = table_of_points(
      {"mean step, synchronous [95 %]", "mean step, free-running [95 %]", "saved by not waiting"});
  std::map<std::pair<std::string, std::string>, const CellSummary*> synchronous;
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches > 0 && cell.mode == "synchronous") {
      synchronous[place_of(cell)] = &cell;
    }
  }
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches == 0 || cell.mode != "free-running") continue;
    const auto found = synchronous.find(place_of(cell));
    if (found == synchronous.end()) continue;
    const stats::Estimate& waiting = found->second->mean_step;
    std::vector<std::string> row = point_fields(cell);
    row.insert(row.end(),
               {duration_text(waiting), duration_text(cell.mean_step),
                fmt::format("{:.1f} %", 100 * (1 - cell.mean_step.center / waiting.center))});
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<std::int64_t> peak_memory(const CellSummary& cell) {
  std::map<int, std::int64_t> most;
  for (const results::LaunchRecord* record : cell.measured) {
    for (const results::DeviceMemory& memory : record->memory) {
      std::int64_t& peak = most[memory.device];
      peak = std::max(peak, memory.peak_bytes);
    }
  }
  std::vector<std::int64_t> peaks;
  for (const auto& [device, bytes] : most) peaks.push_back(bytes);
  return peaks;
}

std::optional<double> root_burden(const std::vector<std::int64_t>& peaks) {
  if (peaks.size() < 2) return std::nullopt;
  const double others =
      std::accumulate(peaks.begin() + 1, peaks.end(), 0.0) / static_cast<double>(peaks.size() - 1);
  if (others <= 0) return std::nullopt;
  return static_cast<double>(peaks.front()) / others;
}

Table memory_table(const Summary& summary) {
  Table table =
      table_of_points({"device 0", "most of the others", "device 0 / mean of the others"});
  for (const CellSummary& cell : summary.cells) {
    const std::vector<std::int64_t> peaks = peak_memory(cell);
    const std::optional<double> burden = root_burden(peaks);
    if (!burden) continue;
    std::vector<std::string> row = point_fields(cell);
    row.insert(row.end(), {to_string(Bytes{peaks.front()}),
                           to_string(Bytes{*std::max_element(peaks.begin() + 1, peaks.end())}),
                           factor_text(*burden)});
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace tandem::reports
