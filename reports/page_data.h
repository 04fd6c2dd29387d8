// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/report.h"

namespace tandem::reports {

// What the page leaves out, so that it stays small: the files beside it have all.
struct PageLimits {
  std::size_t samples = 60'000;        // step times on the whole page
  std::size_t samples_of_cell = 1200;  // evenly taken from its launches
  std::size_t comparisons = 60;        // in the chart of ddp against dp
};

// A report, and what tells its cells from those of others on the same page; empty where it is
// alone.
struct PageSource {
  const Report* report = nullptr;
  std::string letter{};
};

struct PageData {
  // JSON that may stand inside a script element: no "<" in it. Its form is told in page_data.cc.
  std::string json;
  std::size_t samples = 0;  // of the document
  std::size_t shown_samples = 0;
  std::size_t cells_with_samples = 0;
  std::size_t comparisons = 0;
  std::size_t shown_comparisons = 0;
};

// What never shares a curve, in words: precision, mode, back end, oversubscription and models.
[[nodiscard]] std::string conditions_of(const CellSummary& cell);

// Every figure that the charts draw, worked out here: the script draws and filters.
[[nodiscard]] PageData page_data(const std::vector<PageSource>& sources,
                                 const PageLimits& limits = {});
[[nodiscard]] PageData page_data(const Report& report, const PageLimits& limits = {});

}  // namespace tandem::reports
