// SPDX-License-Identifier: Apache-2.0
//
// Many elements, made and compared as bytes: ThreadSanitizer takes its time for each one that is
// touched by itself, and what these are compared with is what it is to watch.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

namespace tandem::test {

// `count` values: those of `first`, again and again.
template <class T, std::size_t kPeriod>
[[nodiscard]] std::vector<T> repeated(const std::array<T, kPeriod>& first, std::int64_t count) {
  constexpr auto period = static_cast<std::int64_t>(kPeriod);
  std::vector<T> values(static_cast<std::size_t>(count));
  const auto begin = values.begin();
  std::copy_n(first.begin(), std::min(count, period), begin);
  for (std::int64_t done = period; done < count; done *= 2) {
    std::copy_n(begin, std::min(done, count - done), begin + done);
  }
  return values;
}

// For EXPECT_PRED2, which prints both. For values that are no NaN, equal bytes are equal values.
inline constexpr auto same_elements = []<class T>(const std::vector<T>& a,
                                                  const std::vector<T>& b) {
  if (a.size() != b.size()) return false;
  return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0 || a == b;
};

}  // namespace tandem::test
