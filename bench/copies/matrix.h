// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tandem::bench {

// Figures by row and column, as text for people: rows are where copies come from, columns where
// they go to. "-" where there is no such copy, "skipped" where it was not measured.
class Matrix {
 public:
  // `names` of rows and columns alike, in order.
  Matrix(std::string title, std::vector<std::string> names)
      : title_(std::move(title)), names_(std::move(names)) {}

  // Empty: skipped.
  void set(const std::string& row, const std::string& column, std::optional<double> value) {
    cells_[{row, column}] = value;
  }

  [[nodiscard]] std::string text() const;

 private:
  [[nodiscard]] std::string cell(const std::string& row, const std::string& column) const;

  const std::string title_;
  const std::vector<std::string> names_;
  std::map<std::pair<std::string, std::string>, std::optional<double>> cells_;
};

}  // namespace tandem::bench
