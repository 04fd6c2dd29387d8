// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/summary.h"

namespace tandem::reports {

// What one pair of charts shows: one workload. Modes, back ends, and measured and modelled figures
// never share a curve.
struct ChartGroup {
  std::string title;
  std::vector<const CellSummary*> cells;  // measured ones

  [[nodiscard]] bool has_speedups() const;
  [[nodiscard]] bool has_phases() const;
};

[[nodiscard]] std::vector<ChartGroup> chart_groups(const Summary& summary);

// The charts' figures as JSON that may stand inside a script element: no "<" in it.
[[nodiscard]] std::string page_data(const Summary& summary, const std::vector<ChartGroup>& groups);

}  // namespace tandem::reports
