// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "reports/answer/report.h"

namespace tandem::reports {

// The limits that keep the page small; the files beside the page have all data.
struct PageLimits {
  std::size_t samples = 60'000;        // step times on the whole page
  std::size_t samples_of_cell = 1200;  // taken evenly from the cell's launches
  std::size_t comparisons = 60;        // comparisons in the chart of ddp against dp
};

// A report, and the letter of its cells on a page of several reports; empty on a page of one.
struct PageSource {
  const Report* report = nullptr;
  std::string letter{};
};

struct PageData {
  // JSON that may stand inside a script element: the text has no "<". The first lines
  // of the .cc file document the form.
  std::string json;
  std::size_t samples = 0;  // samples of the document
  std::size_t shown_samples = 0;
  std::size_t cells_with_samples = 0;
  std::size_t comparisons = 0;
  std::size_t shown_comparisons = 0;
};

// The conditions that separate curves, in words: precision, mode, back end, oversubscription and
// modelled parts.
[[nodiscard]] std::string conditions_of(const CellSummary& cell);

// Every figure that the charts draw, computed here: the script only draws and filters.
[[nodiscard]] PageData page_data(const std::vector<PageSource>& sources,
                                 const PageLimits& limits = {});
[[nodiscard]] PageData page_data(const Report& report, const PageLimits& limits = {});

}  // namespace tandem::reports
