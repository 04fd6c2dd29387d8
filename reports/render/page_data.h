// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "reports/report.h"

namespace tandem::reports {

// Private to the page: the parts of its data that are separate lists; page_data.cc documents their
// form.

using Json = nlohmann::ordered_json;

// The value to six digits: more digits than any figure of the page means, and half the bytes.
[[nodiscard]] double brief(double value);

// The centre, low and high end; a following "unbounded" tells why the ends are missing.
[[nodiscard]] Json triple(const stats::Estimate& estimate, double scale = 1);

// At most `most` comparisons, on the most devices first, since comparisons on few devices say
// least.
[[nodiscard]] Json pairs_json(const Summary& summary, std::size_t most);

[[nodiscard]] Json buckets_json(const Summary& summary);
[[nodiscard]] Json wires_json(const Report& report);

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
  // JSON that may stand inside a script element: the text has no "<". page_data.cc documents the
  // form.
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
