// SPDX-License-Identifier: Apache-2.0
#include "bench/copies/matrix.h"

#include <fmt/format.h>

#include <algorithm>

namespace tandem::bench {
namespace {

constexpr const char* kCorner = "from \\ to";
constexpr std::size_t kLeastWidth = 7;  // the width of "skipped"

}  // namespace

std::string Matrix::cell(const std::string& row, const std::string& column) const {
  const auto found = cells_.find({row, column});
  if (found == cells_.end()) return "-";
  return found->second ? fmt::format("{:.3g}", *found->second) : "skipped";
}

std::string Matrix::text() const {
  std::size_t first = std::string(kCorner).size();
  std::size_t width = kLeastWidth;
  for (const std::string& name : names_) {
    first = std::max(first, name.size());
    width = std::max(width, name.size());
  }
  std::string text = fmt::format("{}\n  {:<{}}", title_, kCorner, first);
  for (const std::string& name : names_) text += fmt::format("  {:>{}}", name, width);
  text += '\n';
  for (const std::string& row : names_) {
    text += fmt::format("  {:<{}}", row, first);
    for (const std::string& column : names_) {
      text += fmt::format("  {:>{}}", cell(row, column), width);
    }
    text += '\n';
  }
  return text;
}

}  // namespace tandem::bench
