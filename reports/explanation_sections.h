// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/explanation.h"
#include "reports/table.h"

namespace tandem::reports {

// A heading, sentences, and a table, which may have no rows.
struct Section {
  std::string title;
  std::vector<std::string> lines;
  Table table;
};

// The explanation in the order in which it is to be read; terminal and Markdown draw the same.
[[nodiscard]] std::vector<Section> sections_of(const Explanation& explanation);

// "1.234 [1.200 .. 1.268]" in milliseconds, or "no figure".
[[nodiscard]] std::string milliseconds_text(const Figure& figure);

// As long as the effect's share of `full` seconds: '#' saves, '-' costs, '~' is not resolved.
[[nodiscard]] std::string bar(const Figure& figure, double full);

}  // namespace tandem::reports
