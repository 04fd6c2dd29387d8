// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tandem::cli {

// What exec takes: pointers into `texts`, which outlives them, and a null one at the end.
[[nodiscard]] inline std::vector<char*> exec_pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

}  // namespace tandem::cli
