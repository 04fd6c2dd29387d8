// SPDX-License-Identifier: Apache-2.0
#include "common/base/known_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "common/base/error.h"

namespace tandem {
namespace {

// The restricted Damerau-Levenshtein distance, computed by rows.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> above(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t changed = above[j - 1] + (a[i - 1] == b[j - 1] ? 0U : 1U);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, changed});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

// The only known name that `given` begins; "" where there is none or more than one.
std::string_view name_begun(std::string_view given, std::span<const std::string_view> known) {
  constexpr std::size_t kShortest = 2;
  if (given.size() < kShortest) return "";
  const auto is_begun = [given](std::string_view name) { return name.starts_with(given); };
  if (std::ranges::count_if(known, is_begun) != 1) return "";
  return *std::ranges::find_if(known, is_begun);
}

// The nearest known name; "" where no name is near enough.
std::string_view nearest_name(std::string_view given, std::span<const std::string_view> known) {
  constexpr std::size_t kLongest = 64;  // longest name that is compared
  std::string_view nearest = name_begun(given, known);
  if (given.size() > kLongest || !nearest.empty()) return nearest;
  std::size_t least = std::max<std::size_t>(1, given.size() / 3) + 1;
  for (const std::string_view name : known) {
    const std::size_t errors = distance(given, name);
    if (errors >= least || errors >= name.size()) continue;
    least = errors;
    nearest = name;
  }
  return nearest;
}

}  // namespace

std::string did_you_mean(std::string_view given, std::span<const std::string_view> known) {
  const std::string_view meant = nearest_name(given, known);
  return meant.empty() ? "" : fmt::format(" (did you mean '{}'?)", meant);
}

void fail_unknown(std::string_view what, std::string_view given,
                  std::span<const std::string_view> known) {
  fail(ErrorKind::kUsage, "{}: '{}' is unknown{}; known are {}", what, given,
       did_you_mean(given, known), fmt::join(known, ", "));
}

}  // namespace tandem
