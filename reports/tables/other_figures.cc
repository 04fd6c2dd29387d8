// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/other_figures.h"

#include <fmt/format.h>

#include "reports/format.h"

namespace tandem::reports {
namespace {

std::vector<std::string> row_of(const results::OtherEntry& entry) {
  if (const std::string error = entry.error(); !error.empty()) {
    return {entry.source, entry.name(), "", error};
  }
  std::string time;
  std::vector<std::string> figures;
  for (const auto& [name, value] : entry.figures()) {
    if (name == "real_time") {
      time = fmt::format("{:.4g} {}", value, entry.time_unit());
    } else {
      figures.push_back(fmt::format("{} {:.4g}", name, value));
    }
  }
  return {entry.source, entry.name(), time, join(figures, ", ")};
}

}  // namespace

Table other_figures_table(const results::Document& document) {
  Table table{.columns = {{"measured by"}, {"entry"}, {"time", Table::Align::kRight}, {"figures"}},
              .rows = {}};
  for (const results::OtherEntry& entry : document.others) table.rows.push_back(row_of(entry));
  return table;
}

}  // namespace tandem::reports
