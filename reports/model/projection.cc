// SPDX-License-Identifier: Apache-2.0
#include "reports/model/projection.h"

#include <algorithm>
#include <cmath>

namespace tandem::reports {
namespace {

const HeldOut* row_of(const std::vector<HeldOut>& rows, const results::Cell& cell) {
  const auto found =
      std::ranges::find_if(rows, [&](const HeldOut& row) { return row.cell == cell; });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace

SignsTold signs_told(const std::vector<HeldOut>& rows, const std::vector<StrategyPair>& comparisons,
                     double least) {
  SignsTold told;
  for (const StrategyPair& pair : comparisons) {
    const HeldOut* const dp = row_of(rows, pair.dp->cell);
    const HeldOut* const ddp = row_of(rows, pair.ddp->cell);
    const double measured = std::log(pair.ddp_speed.center);
    const bool counts = dp != nullptr && ddp != nullptr &&
                        pair.ddp_verdict != stats::Verdict::kNotResolved &&
                        std::abs(measured) > std::log1p(least);
    if (!counts) continue;
    ++told.pairs;
    const double simulated = std::log(dp->by(Prediction::kSimulated) /  //
                                      ddp->by(Prediction::kSimulated));
    if (simulated * measured > 0) ++told.right;
  }
  return told;
}

std::optional<double> most_memory_error(const std::vector<HeldOutMemory>& memory) {
  std::optional<double> most;
  for (const HeldOutMemory& row : memory) {
    const double error =
        std::abs(static_cast<double>(row.simulated) / static_cast<double>(row.measured) - 1);
    most = std::max(most.value_or(0), error);
  }
  return most;
}

void add_intervals(Projection& projection) {
  projection.half_width = half_width(projection.held_out);
  for (const HeldOut& row : projection.held_out) {
    projection.most_measured = std::max(projection.most_measured, row.cell.devices);
  }
  if (!projection.half_width) return;
  for (ProjectedCell& cell : projection.cells) {
    cell.interval = projected_interval(cell.seconds, *projection.half_width, cell.cell.devices,
                                       projection.most_measured);
  }
}

}  // namespace tandem::reports
