// SPDX-License-Identifier: Apache-2.0
#include "reports/csv.h"

#include <fmt/format.h>

#include <cmath>
#include <string_view>
#include <vector>

#include "reports/format.h"

namespace tandem::reports {
namespace {

constexpr std::string_view kHeader =
    "model,global_batch,devices,strategy,launch,backend,mode,options,"
    "status,reason,marks,launches,failed_launches,samples,"
    "median_step_s,median_step_low_s,median_step_high_s,"
    "mean_step_s,mean_step_low_s,mean_step_high_s,"
    "throughput_per_s,throughput_low_per_s,throughput_high_per_s,"
    "baseline,speedup,speedup_low,speedup_high,efficiency,remainder_share\n";

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string doubled;
  for (const char c : text) doubled.append(c == '"' ? 2U : 1U, c);
  return fmt::format("\"{}\"", doubled);
}

void add_estimate(std::vector<std::string>& fields, const stats::Estimate* estimate) {
  fields.push_back(estimate != nullptr ? fmt::format("{}", estimate->center) : "");
  const bool known = estimate != nullptr && estimate->interval;
  const auto end = [](double value) {
    return value >= 0 && std::isfinite(value) ? fmt::format("{}", value) : std::string();
  };
  fields.push_back(known ? end(estimate->interval->low) : "");
  fields.push_back(known ? end(estimate->interval->high) : "");
}

std::string options_text(const results::Cell& cell) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : cell.options) parts.push_back(name + "=" + value);
  return join(parts, " ");
}

std::string row_text(const CellSummary& summary) {
  const results::Cell& cell = summary.cell;
  const bool measured = summary.launches > 0;
  std::vector<std::string> fields{cell.model,
                                  std::to_string(cell.global_batch),
                                  std::to_string(cell.devices),
                                  cell.strategy,
                                  cell.launch,
                                  cell.backend,
                                  summary.mode,
                                  options_text(cell),
                                  std::string(to_string(summary.status)),
                                  summary.reason,
                                  join(marks_of(summary), "; "),
                                  std::to_string(summary.launches),
                                  std::to_string(summary.failed_launches),
                                  std::to_string(summary.samples)};
  add_estimate(fields, measured ? &summary.median_step : nullptr);
  add_estimate(fields, measured ? &summary.mean_step : nullptr);
  add_estimate(fields, measured ? &summary.throughput : nullptr);
  fields.emplace_back(summary.speedup ? "single" : "");
  add_estimate(fields, summary.speedup ? &*summary.speedup : nullptr);
  fields.push_back(summary.speedup ? fmt::format("{}", *summary.efficiency()) : "");
  fields.push_back(summary.phases.empty() ? "" : fmt::format("{}", summary.remainder_share()));
  for (std::string& field : fields) field = csv_field(field);
  return join(fields, ",") + "\n";
}

}  // namespace

std::string to_csv(const Summary& summary) {
  std::string text{kHeader};
  for (const CellSummary& cell : summary.cells) text += row_text(cell);
  return text;
}

}  // namespace tandem::reports
