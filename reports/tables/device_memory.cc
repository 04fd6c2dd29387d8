// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/device_memory.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "common/base/units.h"
#include "reports/format.h"
#include "reports/tables/point_columns.h"

namespace tandem::reports {

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
