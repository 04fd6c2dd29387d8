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

}  // namespace tandem::reports
