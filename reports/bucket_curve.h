// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/summary.h"
#include "reports/table.h"

namespace tandem::reports {

// Cells of ddp that differ in --bucket-mb alone.
struct BucketCurve {
  struct Point {
    std::string cap;   // as given to --bucket-mb: MiB, or "all"
    double mebibytes;  // infinity: one bucket for all
    const CellSummary* cell = nullptr;
  };

  std::string title;
  std::vector<Point> points;  // by size, two or more; the default is "25"

  // With the least median step.
  [[nodiscard]] const Point& best() const;
  // The default's, nullptr where it was not measured.
  [[nodiscard]] const Point* usual() const;
  // Whether the best one's speed over the default's is resolved; false where it is the default.
  [[nodiscard]] bool best_is_resolved() const;
};

// Points into the summary.
[[nodiscard]] std::vector<BucketCurve> bucket_curves(const Summary& summary);

// A row per point of each curve: what ddp was run on, the cap, launches and median step.
[[nodiscard]] Table bucket_curve_table(const Summary& summary);

}  // namespace tandem::reports
