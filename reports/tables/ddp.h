// SPDX-License-Identifier: Apache-2.0
//
// Tables of what ddp costs: its parts, its collectives, and its steps over the bucket size.
#pragma once

#include <string>
#include <vector>

#include "reports/model/summary.h"
#include "reports/text/table.h"

namespace tandem::reports {

// A row per result of communication_times().
[[nodiscard]] TextTable collective_table(const Summary& summary);

// A row per cost; no rows without costs.
[[nodiscard]] TextTable ddp_cost_table(const Summary& summary);

// Cells of ddp that differ only in --bucket-mb.
struct BucketCurve {
  struct Point {
    std::string cap;   // value of --bucket-mb: MiB, or "all"
    double mebibytes;  // infinity: one bucket for all gradients
    const CellSummary* cell = nullptr;
  };

  std::string title;
  std::vector<Point> points;  // by size, two or more; the default is "25"

  // The point with the least median step.
  [[nodiscard]] const Point& best() const;
  // The point with the default cap; nullptr where that cap was not measured.
  [[nodiscard]] const Point* usual() const;
  // Whether the best point's speed over the default's is resolved; false where the default is best.
  [[nodiscard]] bool best_is_resolved() const;
};

// The curves point into the summary.
[[nodiscard]] std::vector<BucketCurve> bucket_curves(const Summary& summary);

}  // namespace tandem::reports
