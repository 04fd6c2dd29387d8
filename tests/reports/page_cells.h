// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tandem::reports {

// The cells of a page's columns, each with what it has; what is null is absent.
inline std::vector<nlohmann::json> cells_of(const nlohmann::json& columns) {
  std::vector<nlohmann::json> cells(columns.empty() ? 0 : columns.front().size());
  for (const auto& [name, column] : columns.items()) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (!column[i].is_null()) cells[i][name] = column[i];
    }
  }
  return cells;
}

}  // namespace tandem::reports
