// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace tandem::test {

// 16-bit compression's loss by hand: each rank's number cast, divided and rounded; the sum of all,
// in rank order, rounded once.
template <class T>
[[nodiscard]] std::vector<float> naive_half_average(
    const std::vector<std::vector<float>>& of_rank) {
  const auto ranks = static_cast<float>(of_rank.size());
  std::vector<float> sums(of_rank.front().size(), 0);
  for (const std::vector<float>& values : of_rank) {
    for (std::size_t i = 0; i < sums.size(); ++i) {
      const T cast(values[i]);
      const T divided(static_cast<float>(cast) / ranks);
      sums[i] += static_cast<float>(divided);
    }
  }
  for (float& sum : sums) sum = static_cast<float>(T(sum));
  return sums;
}

}  // namespace tandem::test
