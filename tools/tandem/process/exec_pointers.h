// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tandem::cli {

// The arguments of exec: pointers into `texts`, then a null pointer. `texts` must outlive the
// result.
[[nodiscard]] inline std::vector<char*> exec_pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

}  // namespace tandem::cli
