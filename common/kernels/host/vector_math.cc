// SPDX-License-Identifier: Apache-2.0
#include "common/kernels/host/vector_math.h"

#include <algorithm>
#include <limits>

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

namespace {

constexpr int kLanes = 64;             // element i goes to partial sum i % kLanes, as with kSums
constexpr std::int64_t kBlock = 1024;  // elements whose partial sums are fp32

enum class Result { kSum, kAll };

// Adds `width` elements from `begin` on, one to each partial sum; `width` is kLanes except at the
// end.
template <Result result>
TANDEM_INTO_LOOPS void add_exponentials(std::int64_t begin, int width, const float* in, float base,
                                        float* out, float (&sums)[kLanes]) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (int j = 0; j < width; ++j) {
    const float e = exponential(in[begin + j] - base);
    sums[j] += e;
    if (result == Result::kAll) out[begin + j] = e;
  }
}

// Fetches into the cache the memory behind the row, often the next row, while there is much to
// compute; otherwise finding that row's largest value would only wait for memory.
TANDEM_INTO_LOOPS void fetch(const float* values) {
  constexpr int kLine = 16;
  for (int i = 0; i < kLanes; i += kLine) __builtin_prefetch(values + i, 0, 2);
}

// Sums kBlock / kLanes terms to each partial sum in fp32, and the blocks' sums in double.
template <Result result>
TANDEM_INTO_LOOPS double sum_exponentials(std::int64_t count, const float* in, float base,
                                          float* out) {
  double total = 0;
  std::int64_t begin = 0;
  while (begin < count) {
    float sums[kLanes] = {};
    const std::int64_t end = std::min(count, begin + kBlock);
    for (; begin + kLanes <= end; begin += kLanes) {
      fetch(in + count + begin);
      add_exponentials<result>(begin, kLanes, in, base, out, sums);
    }
    add_exponentials<result>(begin, static_cast<int>(end - begin), in, base, out, sums);
    begin = end;
    double wide[kLanes];
    for (int j = 0; j < kLanes; ++j) wide[j] = static_cast<double>(sums[j]);
    total += folded_sum<kLanes>(wide);
  }
  return total;
}

TANDEM_INTO_LOOPS void raise(int width, const float* values, float (&lanes)[kLanes]) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (int j = 0; j < width; ++j) lanes[j] = values[j] > lanes[j] ? values[j] : lanes[j];
}

}  // namespace

TANDEM_VECTOR_CLONES
float largest(std::int64_t count, const float* values) {
  float lanes[kLanes];
  std::fill_n(lanes, kLanes, -std::numeric_limits<float>::infinity());
  std::int64_t begin = 0;
  for (; begin + kLanes <= count; begin += kLanes) raise(kLanes, values + begin, lanes);
  raise(static_cast<int>(count - begin), values + begin, lanes);
  return folded_largest<kLanes>(lanes);
}

TANDEM_VECTOR_CLONES
double exponentials(std::int64_t count, const float* in, float base, float* out) {
  return sum_exponentials<Result::kAll>(count, in, base, out);
}

TANDEM_VECTOR_CLONES
double sum_of_exponentials(std::int64_t count, const float* in, float base) {
  return sum_exponentials<Result::kSum>(count, in, base, nullptr);
}

TANDEM_VECTOR_CLONES
void multiply(std::int64_t count, float* values, float factor) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) values[i] *= factor;
}

}  // namespace tandem::host
