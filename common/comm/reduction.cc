// SPDX-License-Identifier: Apache-2.0
#include "common/comm/reduction.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "common/base/vector_clones.h"

namespace tandem {
namespace {

constexpr std::int64_t kLine = 16;     // floats in a cache line
constexpr std::int64_t kBlock = 2048;  // floats that are summed while they stay in the L1 cache

TANDEM_VECTOR_CLONES
void reduce_pair(float* __restrict a, float* __restrict b, std::int64_t count, float factor) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float sum = (a[i] + b[i]) * factor;
    a[i] = sum;
    b[i] = sum;
  }
}

TANDEM_VECTOR_CLONES
void add_to(float* __restrict sum, const float* __restrict values, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) sum[i] += values[i];
}

TANDEM_VECTOR_CLONES
void multiply(float* values, std::int64_t count, float factor) {
  for (std::int64_t i = 0; i < count; ++i) values[i] *= factor;
}

TANDEM_VECTOR_CLONES
void reduce_pair_to(float* into, const float* a, const float* b, std::int64_t count) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) into[i] = a[i] + b[i];
}

using Sums = std::array<float, kBlock>;

std::size_t bytes_of(std::int64_t count) { return static_cast<std::size_t>(count) * sizeof(float); }

void sum_block(const std::vector<float*>& buffers, std::int64_t first, std::int64_t count,
               Sums& sum) {
  std::memcpy(sum.data(), buffers.front() + first, bytes_of(count));
  for (std::size_t rank = 1; rank < buffers.size(); ++rank) {
    add_to(sum.data(), buffers[rank] + first, count);
  }
}

// Any number of buffers: a block is summed apart, then copied to all.
void reduce_block(const std::vector<float*>& buffers, std::int64_t first, std::int64_t count,
                  float factor) {
  Sums sum;
  sum_block(buffers, first, count, sum);
  multiply(sum.data(), count, factor);
  for (float* const buffer : buffers) std::memcpy(buffer + first, sum.data(), bytes_of(count));
}

}  // namespace

Share share_of(int rank, int size, std::int64_t elements) {
  const std::int64_t lines = (elements + kLine - 1) / kLine;
  const std::int64_t from = std::min(elements, lines * rank / size * kLine);
  const std::int64_t to = std::min(elements, lines * (rank + 1) / size * kLine);
  return {from, to - from};
}

void reduce_to_all(const std::vector<float*>& buffers, std::int64_t first, std::int64_t count,
                   float factor) {
  if (buffers.size() == 1) return;  // the sum of one, and its average
  if (buffers.size() == 2) {
    return reduce_pair(buffers[0] + first, buffers[1] + first, count, factor);
  }
  for (std::int64_t done = 0; done < count; done += kBlock) {
    reduce_block(buffers, first + done, std::min(kBlock, count - done), factor);
  }
}

void reduce_to_root(const std::vector<float*>& buffers, std::int64_t first, std::int64_t count,
                    int root) {
  if (buffers.size() == 1) return;
  float* const into = buffers[static_cast<std::size_t>(root)] + first;
  if (buffers.size() == 2)
    return reduce_pair_to(into, buffers[0] + first, buffers[1] + first, count);
  for (std::int64_t done = 0; done < count; done += kBlock) {
    Sums sum;
    const std::int64_t block = std::min(kBlock, count - done);
    sum_block(buffers, first + done, block, sum);
    std::memcpy(into + done, sum.data(), bytes_of(block));
  }
}

}  // namespace tandem
