// SPDX-License-Identifier: Apache-2.0
#include "reports/model/baseline.h"

#include "reports/model/implementation.h"
#include "reports/model/modelled.h"

namespace tandem::reports {

const CellSummary* baseline_of(const CellSummary& summary, std::int64_t batch,
                               const std::vector<CellSummary>& cells) {
  results::Cell place = summary.cell;
  place.global_batch = batch;
  const CellSummary* best = nullptr;
  for (const CellSummary& other : of_same_workload(cells, place)) {
    if (other.cell.strategy != "single" || other.launches == 0) continue;
    if (other.mode != summary.mode || other.modelled != summary.modelled ||
        other.planted != summary.planted ||
        precision_of(other.cell) != precision_of(summary.cell) ||
        is_replayed(other.cell) != is_replayed(summary.cell) ||
        implementation_of(other.cell) != implementation_of(summary.cell) ||
        !updates_alike(other.cell, summary.cell)) {
      continue;
    }
    if (best == nullptr || is_plain(other.cell)) best = &other;
  }
  return best;
}

}  // namespace tandem::reports
