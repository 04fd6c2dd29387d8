// SPDX-License-Identifier: Apache-2.0
#include "common/base/known_names.h"

#include <algorithm>
#include <numeric>
#include <vector>

namespace tandem {
namespace {

// Levenshtein's distance, a row of its table at a time.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string_view nearest_name(std::string_view given, std::span<const std::string_view> known) {
  constexpr std::size_t kLongest = 64;  // longer texts are no misspelt names
  std::string_view nearest;
  std::size_t least = kLongest;
  if (given.size() > kLongest) return nearest;
  for (const std::string_view name : known) {
    const std::size_t apart = distance(given, name);
    if (apart >= least || 2 * apart > name.size()) continue;
    least = apart;
    nearest = name;
  }
  return nearest;
}

}  // namespace tandem
