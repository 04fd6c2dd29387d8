// SPDX-License-Identifier: Apache-2.0
//
// Figures of one question from several sources, a panel each: what Tandem measured, what another
// implementation measured, and what was projected. Panels share a scale, and never a line or a
// ratio.
#pragma once

#include <string>
#include <vector>

#include "reports/answer/report.h"
#include "reports/model/summary.h"
#include "reports/text/table.h"

namespace tandem::reports {

struct PanelCell {
  const CellSummary* cell = nullptr;
  const CellSummary* question = nullptr;  // the measured cell with its question; itself if measured
  std::string label;                      // its strategy and options, without the panel's source
};

struct Panel {
  std::string title;                   // "PyTorch 2.15.0, measured"
  std::string note{};                  // what stands behind a projection; empty: measured
  const Summary* projected = nullptr;  // of a projection; nullptr: measured
  std::vector<PanelCell> cells{};
};

// A panel per source of the report's figures, Tandem's own measurements first, projections last;
// empty where there is one source alone. A projected panel has the cells whose model, samples per
// device, precision, mode and other question a measured cell has too. Panels point into the report.
[[nodiscard]] std::vector<Panel> panels_of(const Report& report);

// The names of the report's projections that answer no question of a measured cell.
[[nodiscard]] std::vector<std::string> projections_apart(const Report& report);

// A table per panel: samples per second and median step of each cell whose question another panel
// answers, too.
[[nodiscard]] std::vector<TextTable> panel_tables(const std::vector<Panel>& panels);

}  // namespace tandem::reports
