// SPDX-License-Identifier: Apache-2.0
#include "reports/model/explained_points.h"

#include <algorithm>
#include <set>
#include <string>

#include "reports/model/modelled.h"

namespace tandem::reports {
namespace {

constexpr std::size_t kMostPoints = 4;

GapQuestion question_of(const CellSummary& dp) {
  GapQuestion question;
  question.model = dp.cell.model;
  question.batch = dp.cell.global_batch;
  question.devices = dp.cell.devices;
  question.backend = dp.cell.backend;
  question.precision = precision_of(dp.cell);
  return question;
}

std::set<std::string> measured_names(const Summary& summary) {
  std::set<std::string> names;
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches > 0 && cell.mode == "synchronous") names.insert(cell.cell.name());
  }
  return names;
}

bool has_ladder(const GapQuestion& question, const std::set<std::string>& names) {
  const std::vector<RungCell> cells = ladder_cells(question);
  return std::all_of(cells.begin(), cells.begin() + static_cast<std::ptrdiff_t>(kLadder.size()),
                     [&](const RungCell& rung) { return names.contains(rung.cell.name()); });
}

}  // namespace

std::vector<Explanation> explained_points(const results::Document& document,
                                          const Summary& summary) {
  const std::set<std::string> names = measured_names(summary);
  std::vector<const CellSummary*> points;
  for (const Comparison& pair : summary.comparisons) {
    const CellSummary& dp = *pair.dp;
    if (dp.cell.devices < 2 || !is_plain(dp.cell) || !is_plain(pair.ddp->cell)) continue;
    if (has_ladder(question_of(dp), names)) points.push_back(&dp);
  }
  std::stable_sort(points.begin(), points.end(),
                   [](const auto* a, const auto* b) { return a->cell.devices > b->cell.devices; });
  points.resize(std::min(points.size(), kMostPoints));
  std::vector<Explanation> found;
  for (const CellSummary* point : points) {
    found.push_back(explain(document, question_of(*point), point->launches));
  }
  return found;
}

}  // namespace tandem::reports
