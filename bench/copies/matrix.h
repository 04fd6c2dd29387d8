// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tandem::bench {

// Figures by row and column, as text for people: rows are sources of copies, columns are targets.
// "-" marks a pair without a copy, "skipped" a copy that was not measured.
class Matrix {
 public:
  // `names` name rows and columns alike, in order.
  Matrix(std::string title, std::vector<std::string> names)
      : title_(std::move(title)), names_(std::move(names)) {}

  // An empty value marks a copy that was skipped.
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
