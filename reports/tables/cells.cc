// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/cells.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "common/base/units.h"
#include "common/options/strategies.h"
#include "reports/model/notes.h"
#include "reports/model/phases.h"
#include "reports/model/subject.h"
#include "reports/text/format.h"

namespace tandem::reports {
namespace {

using enum options::StrategyKind;

constexpr const char* kNone = "-";

// "no baseline" instead of a dash, which would mean that a speed-up makes no sense here.
std::string speedup_text(const CellSummary& summary) {
  if (summary.cell.strategy == name_of(kSingle)) return kNone;
  if (summary.cell.is_pretended()) return kNone;
  return summary.speedup ? ratio_text(*summary.speedup) : "no baseline";
}

std::string efficiency_text(const CellSummary& summary) {
  const std::optional<stats::Estimate> efficiency = summary.efficiency();
  if (!efficiency || summary.cell.devices == 1) return kNone;
  return fixed_text(*efficiency, 0, " %", 100) + (summary.efficiency_above_one() ? " (!)" : "");
}

// The text "41.2 (58 %)": the achieved GFLOP/s and their share of the measured peak.
std::string flops_text(const CellSummary& summary) {
  const std::optional<double> achieved = summary.device_gflops();
  if (!achieved) return kNone;
  const std::string text = rate_text(*achieved);
  const std::optional<double> share = summary.peak_share();
  return share ? fmt::format("{} ({:.0f} %)", text, 100 * *share) : text;
}

// With three digits that count: a step may take a millijoule or a megajoule.
std::string energy_text(const stats::Estimate& joules) {
  const std::string center = fmt::format("{:.3g}", joules.center);
  if (!joules.interval) return center;
  return fmt::format("{} [{:.3g} .. {:.3g}]", center, joules.interval->low, joules.interval->high);
}

std::string status_text(const CellSummary& summary) {
  return fmt::format("{}: {}", to_string(summary.status), summary.reason);
}

// Pretended GPUs process no samples.
std::string rate_of(const CellSummary& summary) {
  return summary.cell.is_pretended() ? kNone : rate_text(summary.throughput);
}

void add_cell(TextTable& table, const CellSummary& summary) {
  const std::string label = strategy_label(summary.cell);
  if (summary.launches == 0) {
    return add_point(table, summary.cell,
                     {label, "0", kNone, kNone, kNone, kNone, kNone, status_text(summary)});
  }
  add_point(table, summary.cell,
            {label, std::to_string(summary.launches), duration_text(summary.median_step),
             rate_of(summary), speedup_text(summary), efficiency_text(summary), flops_text(summary),
             join(marks_of(summary), ", ")});
}

// Devices that are not there make no strategy fast: one leaves the host less work, or more.
std::string host_work_text(stats::Verdict verdict) {
  if (verdict == stats::Verdict::kFaster) return "less host work (pretended)";
  if (verdict == stats::Verdict::kSlower) return "more host work (pretended)";
  return std::string(to_string(verdict)) + " (pretended: host work)";
}

// Marks a modelled comparison, which must not look like a measured one.
std::string verdict_text(const StrategyPair& pair) {
  const std::string equal = pair.equal_within ? ", " + equal_text(*pair.equal_within) : "";
  if (pair.dp->cell.is_pretended()) return host_work_text(pair.ddp_verdict) + equal;
  const std::string verdict = std::string(to_string(pair.ddp_verdict)) + equal;
  const std::string mark = modelled_mark(*pair.dp);
  return mark.empty() ? verdict : verdict + " (" + mark + ")";
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

TextTable table_of_points(const std::vector<std::string>& titles, const char* devices) {
  TextTable table({"model", ">batch", devices});
  table.add_columns(titles);
  return table;
}

void add_point(TextTable& table, const results::Cell& cell,
               const std::vector<std::string>& fields) {
  std::vector<std::string> row{cell.model, std::to_string(cell.global_batch),
                               std::to_string(cell.devices)};
  row.insert(row.end(), fields.begin(), fields.end());
  table.rows.push_back(row);
}

TextTable cell_table(const Summary& summary) {
  TextTable table = table_of_points(
      {"strategy", ">launches", ">median step [95 %]", ">~samples/s [95 %]", ">speed-up vs single",
       ">-efficiency vs single", ">-GFLOP/s per device (of peak)", "remarks"});
  for (const CellSummary& cell : summary.cells) add_cell(table, cell);
  return table;
}

TextTable comparison_table(const Summary& summary) {
  const bool hold_together = std::ranges::any_of(
      summary.comparisons, [](const auto& pair) { return pair.confidence > stats::kConfidence; });
  const std::string interval = hold_together ? " [together 95 %]" : " [95 %]";
  TextTable table =
      is_of_host_work(summary)
          ? table_of_points(
                {"dp", "ddp", ">host work of dp / ddp" + interval, ">launches", "ddp has"})
          : table_of_points({"dp", "ddp", ">speed of ddp / dp" + interval, ">launches", "ddp is"});
  for (const StrategyPair& pair : summary.comparisons) {
    add_point(
        table, pair.dp->cell,
        {strategy_label(pair.dp->cell), strategy_label(pair.ddp->cell), ratio_text(pair.ddp_speed),
         std::to_string(pair.ddp_speed.launches), verdict_text(pair)});
  }
  return table;
}

TextTable phase_table(const Summary& summary) {
  const std::vector<std::string> names = phases_in(summary);
  TextTable table = table_of_points({"strategy", ">mean step, ms"});
  for (const std::string& name : names) table.add_columns({">" + name});
  table.add_columns({">remainder"});
  for (const CellSummary& cell : summary.cells) {
    if (cell.phases.empty()) continue;
    std::vector<std::string> fields{strategy_label(cell.cell),
                                    fmt::format("{:.3f}", cell.mean_step.center * 1e3)};
    for (const std::string& name : names) fields.push_back(phase_cell(cell, name));
    fields.push_back(share_text(cell.remainder_seconds, cell));
    add_point(table, cell.cell, fields);
  }
  return table;
}

TextTable energy_table(const Summary& summary) {
  TextTable table =
      table_of_points({"strategy", ">launches", ">J per step [95 %]", ">J per sample [95 %]"});
  for (const CellSummary& cell : summary.cells) {
    if (!cell.joules_per_step) continue;
    const stats::Estimate& energy = *cell.joules_per_step;
    const auto batch = static_cast<double>(cell.cell.global_batch);
    add_point(table, cell.cell,
              {strategy_label(cell.cell), std::to_string(cell.joules.size()), energy_text(energy),
               energy_text(stats::divided(energy, batch))});
  }
  return table;
}

std::vector<std::int64_t> peak_memory(const CellSummary& cell) {
  std::vector<std::int64_t> most;
  for (const results::LaunchRecord* record : cell.measured) {
    const std::vector<std::int64_t> peaks = results::peaks_by_device(*record);
    most.resize(std::max(most.size(), peaks.size()));
    for (std::size_t i = 0; i < peaks.size(); ++i) most[i] = std::max(most[i], peaks[i]);
  }
  return most;
}

std::optional<double> root_burden(const std::vector<std::int64_t>& peaks) {
  if (peaks.size() < 2) return std::nullopt;
  const double others =
      std::accumulate(peaks.begin() + 1, peaks.end(), 0.0) / static_cast<double>(peaks.size() - 1);
  if (others <= 0) return std::nullopt;
  return static_cast<double>(peaks.front()) / others;
}

TextTable memory_table(const Summary& summary) {
  TextTable table = table_of_points(
      {"strategy", ">device 0", ">most of the others", ">device 0 / mean of the others"});
  for (const CellSummary& cell : summary.cells) {
    const std::vector<std::int64_t> peaks = peak_memory(cell);
    const std::optional<double> burden = root_burden(peaks);
    const bool is_alone = peaks.size() == 1 && !implementation_of(cell.cell).empty();
    if (!burden && !is_alone) continue;
    add_point(table, cell.cell,
              {strategy_label(cell.cell), to_string(Bytes{peaks.front()}),
               is_alone ? "-" : to_string(Bytes{*std::max_element(peaks.begin() + 1, peaks.end())}),
               is_alone ? "-" : factor_text(*burden)});
  }
  return table;
}

}  // namespace tandem::reports
