// SPDX-License-Identifier: Apache-2.0
#include "reports/render/csv_text.h"

#include <fmt/format.h>

#include "reports/format.h"

namespace tandem::reports {
namespace {

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string doubled;
  for (const char c : text) doubled.append(c == '"' ? 2U : 1U, c);
  return fmt::format("\"{}\"", doubled);
}

}  // namespace

std::string options_column(const results::Cell& cell) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : cell.options) parts.push_back(name + "=" + value);
  return join(parts, " ");
}

std::vector<std::string> cell_columns(const CellSummary& summary) {
  const results::Cell& cell = summary.cell;
  return {cell.model,
          std::to_string(cell.global_batch),
          std::to_string(cell.devices),
          cell.strategy,
          cell.launch,
          cell.backend,
          summary.mode,
          options_column(cell)};
}

std::vector<std::string> mark_columns(const CellSummary& summary) {
  return {summary.modelled, summary.planted, summary.oversubscribed ? "1" : "0"};
}

std::string csv_figure(double value) { return fmt::format("{:.9g}", value); }

std::string csv_row(const std::vector<std::string>& fields) {
  std::string row;
  for (const std::string& field : fields) {
    if (&field != &fields.front()) row += ',';
    row += csv_field(field);
  }
  return row + "\n";
}

}  // namespace tandem::reports
