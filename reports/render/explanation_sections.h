// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "reports/model/explanation.h"
#include "reports/text/table.h"

namespace tandem::reports {

// A heading, sentences, and a table, which may be empty.
struct Section {
  std::string title;
  std::vector<std::string> lines{};
  TextTable table{};
};

// The explanation in reading order; terminal and Markdown draw the same sections.
[[nodiscard]] std::vector<Section> sections_of(const Explanation& explanation);

// The explanation for the terminal; the hardware comes first.
[[nodiscard]] std::string to_text(const Explanation& explanation);

// The explanation as the text of explain.md.
[[nodiscard]] std::string to_markdown(const Explanation& explanation);

}  // namespace tandem::reports
