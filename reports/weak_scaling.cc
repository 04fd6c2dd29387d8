// SPDX-License-Identifier: Apache-2.0
#include "reports/weak_scaling.h"

#include "common/stats/comparison.h"
#include "reports/baseline.h"

namespace tandem::reports {
namespace {

std::optional<stats::Estimate> weak_efficiency(const CellSummary& cell, const Summary& summary) {
  if (cell.launches == 0 || cell.cell.strategy == "single") return std::nullopt;
  if (cell.cell.global_batch % cell.cell.devices != 0) return std::nullopt;
  const std::int64_t share = cell.cell.global_batch / cell.cell.devices;
  const CellSummary* baseline = baseline_of(cell, share, summary.cells);
  if (baseline == nullptr) return std::nullopt;
  return stats::ratio_of_medians(baseline->medians, cell.medians);
}

}  // namespace

std::vector<std::optional<stats::Estimate>> weak_efficiencies(const Summary& summary) {
  std::vector<std::optional<stats::Estimate>> found;
  found.reserve(summary.cells.size());
  for (const CellSummary& cell : summary.cells) found.push_back(weak_efficiency(cell, summary));
  return found;
}

}  // namespace tandem::reports
