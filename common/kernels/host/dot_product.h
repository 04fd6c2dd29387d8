// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tandem::host {

// A sum over elements goes to kSums partial sums, element i to sum i % kSums: this order is fixed,
// whatever the vector width, and vectorises without reordering.
constexpr int kSums = 32;

[[nodiscard]] constexpr double total(const double (&sums)[kSums]) {
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

// a[0] b[0] + a[1] b[1] + ..., in double. Thread-safe.
[[nodiscard]] double dot_product(std::int64_t count, const float* a, const float* b);

}  // namespace tandem::host
