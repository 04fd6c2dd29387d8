// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/host/vector_math.h"

#include <algorithm>

#include "common/base/vector_clones.h"

namespace tandem::host {

TANDEM_VECTOR_CLONES
double dot_product(std::int64_t count, const float* a, const float* b) {
  double sums[kSums] = {};
  for (std::int64_t begin = 0; begin < count; begin += kSums) {
    const auto width = static_cast<int>(std::min<std::int64_t>(kSums, count - begin));
    TANDEM_INDEPENDENT_ITERATIONS
    for (int j = 0; j < width; ++j) {
      sums[j] += static_cast<double>(a[begin + j]) * static_cast<double>(b[begin + j]);
    }
  }
  return total(sums);
}

TANDEM_VECTOR_CLONES
void add(std::int64_t count, const float* a, const float* b, float* sum) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) sum[i] = a[i] + b[i];
}

TANDEM_VECTOR_CLONES
void add(std::int64_t count, const float* a, const BFloat16* b, float* sum) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) sum[i] = a[i] + static_cast<float>(b[i]);
}

}  // namespace tandem::host
