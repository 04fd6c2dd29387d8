// SPDX-License-Identifier: Apache-2.0
#include "common/comm/reduction.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "common/base/half.h"
#include "common/base/rounding.h"
#include "common/base/streaming_stores.h"
#include "common/base/vector_clones.h"

namespace tandem {
namespace {

constexpr std::int64_t kLine = 16;     // floats in a cache line
constexpr std::int64_t kBlock = 2048;  // elements that are summed while they stay in the L1 cache
// The size of a rank's share, in elements, from which results leave the caches anyway: 8 MiB, which
// is 16 MiB of a call of two ranks, where streaming begins to pay (at half of that streaming makes
// no difference; below that it loses).
constexpr std::int64_t kStreamed = 2 << 20;

TANDEM_VECTOR_CLONES
void reduce_pair(float* __restrict a, float* __restrict b, std::int64_t count, float factor) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float sum = (a[i] + b[i]) * factor;
    a[i] = sum;
    b[i] = sum;
  }
}

TANDEM_VECTOR_CLONES
void reduce_pair_to(float* into, const float* a, const float* b, std::int64_t count, float factor) {
  TANDEM_INDEPENDENT_ITERATIONS
  for (std::int64_t i = 0; i < count; ++i) into[i] = (a[i] + b[i]) * factor;
}

TANDEM_VECTOR_CLONES
void multiply(float* values, std::int64_t count, float factor) {
  for (std::int64_t i = 0; i < count; ++i) values[i] *= factor;
}

// Loads, adds and stores, overloaded per type since templates cannot be cloned for vector widths.
void load(float* sum, const BFloat16* values, std::int64_t count) { widen(count, values, sum); }
void load(float* sum, const Float16* values, std::int64_t count) { widen(count, values, sum); }
void load(float* sum, const float* values, std::int64_t count) {
  std::memcpy(sum, values, static_cast<std::size_t>(count) * sizeof(float));
}

TANDEM_VECTOR_CLONES
void add_to(float* __restrict sum, const float* __restrict values, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) sum[i] += values[i];
}
TANDEM_VECTOR_CLONES
void add_to(float* __restrict sum, const BFloat16* __restrict values, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) sum[i] += static_cast<float>(values[i]);
}
// Widens into a buffer, since only the loop in base uses the machine's instructions for this
// format.
void add_to(float* sum, const Float16* values, std::int64_t count) {
  std::array<float, kBlock> wide;
  widen(count, values, wide.data());
  add_to(sum, wide.data(), count);
}

void store(BFloat16* values, const float* sum, std::int64_t count) { narrow(count, sum, values); }
void store(Float16* values, const float* sum, std::int64_t count) { narrow(count, sum, values); }
void store(float* values, const float* sum, std::int64_t count) {
  std::memcpy(values, sum, static_cast<std::size_t>(count) * sizeof(float));
}

template <class T>
struct Buffers {
  std::vector<const T*> sources;
  std::vector<T*> destinations;
};

template <class T>
void sum_block(float* sum, const Buffers<T>& buffers, Share block, float factor) {
  load(sum, buffers.sources.front() + block.first, block.count);
  for (std::size_t i = 1; i < buffers.sources.size(); ++i) {
    add_to(sum, buffers.sources[i] + block.first, block.count);
  }
  if (factor != 1.0F) multiply(sum, block.count, factor);
}

// Sums a block in a buffer of its own, then copies the sums to all destinations.
template <class T>
void reduce_block(const Buffers<T>& buffers, Share block, float factor) {
  std::array<float, kBlock> sum;
  sum_block(sum.data(), buffers, block, factor);
  for (T* const to : buffers.destinations) store(to + block.first, sum.data(), block.count);
}

// Whether no destination is a source: the elements of a source are in the caches already.
bool lie_apart(const Buffers<float>& buffers) {
  return std::none_of(buffers.destinations.begin(), buffers.destinations.end(), [&](float* to) {
    return std::find(buffers.sources.begin(), buffers.sources.end(), to) != buffers.sources.end();
  });
}

// Streams large results that lie apart and go to several ranks. A result for the reducing rank
// alone stays in the caches, since that rank reads the result next.
bool reduce_streamed(const Buffers<float>& buffers, Share elements, float factor) {
  const bool is_for_others = buffers.destinations.size() > 1;
  if (!is_for_others || elements.count < kStreamed || !lie_apart(buffers)) return false;
  StreamingStores stores;
  std::array<float, kBlock> sum;
  for (std::int64_t done = 0; done < elements.count; done += kBlock) {
    const Share block{elements.first + done, std::min(kBlock, elements.count - done)};
    sum_block(sum.data(), buffers, block, factor);
    for (float* const to : buffers.destinations) {
      stores.copy(to + block.first, sum.data(), block.count);
    }
  }
  return true;
}
template <class T>
bool reduce_streamed(const Buffers<T>&, Share, float) {
  return false;
}

// Two ranks' floats, the common case on small machines, in one pass.
bool reduce_pairwise(const Buffers<float>& buffers, Share elements, float factor) {
  if (buffers.sources.size() != 2) return false;
  const float* const a = buffers.sources[0] + elements.first;
  const float* const b = buffers.sources[1] + elements.first;
  if (buffers.destinations.size() == 1) {
    reduce_pair_to(buffers.destinations[0] + elements.first, a, b, elements.count, factor);
    return true;
  }
  float* const to_a = buffers.destinations[0] + elements.first;
  float* const to_b = buffers.destinations[1] + elements.first;
  if (a != to_a || b != to_b) return false;
  reduce_pair(to_a, to_b, elements.count, factor);
  return true;
}
template <class T>
bool reduce_pairwise(const Buffers<T>&, Share, float) {
  return false;
}

template <class T>
void reduce_as(const std::vector<const std::byte*>& sources,
               const std::vector<std::byte*>& destinations, Share elements, float factor) {
  Buffers<T> buffers;
  for (const std::byte* const from : sources) {
    buffers.sources.push_back(reinterpret_cast<const T*>(from));
  }
  for (std::byte* const to : destinations) buffers.destinations.push_back(reinterpret_cast<T*>(to));
  if (reduce_streamed(buffers, elements, factor)) return;
  if (reduce_pairwise(buffers, elements, factor)) return;
  for (std::int64_t done = 0; done < elements.count; done += kBlock) {
    reduce_block(buffers, {elements.first + done, std::min(kBlock, elements.count - done)}, factor);
  }
}

}  // namespace

Share share_of(int rank, int size, std::int64_t elements) {
  const std::int64_t lines = ceil_div(elements, kLine);
  const std::int64_t from = std::min(elements, lines * rank / size * kLine);
  const std::int64_t to = std::min(elements, lines * (rank + 1) / size * kLine);
  return {from, to - from};
}

void reduce_elements(const std::vector<const std::byte*>& sources,
                     const std::vector<std::byte*>& destinations, Share elements,
                     Reduction reduction) {
  const bool nothing_changes = sources.size() == 1 && reduction.factor == 1.0F &&
                               destinations.size() == 1 && sources[0] == destinations[0];
  if (nothing_changes) return;
  switch (reduction.type) {
    case DType::kFloat32:
      return reduce_as<float>(sources, destinations, elements, reduction.factor);
    case DType::kBFloat16:
      return reduce_as<BFloat16>(sources, destinations, elements, reduction.factor);
    case DType::kFloat16:
      return reduce_as<Float16>(sources, destinations, elements, reduction.factor);
  }
}

}  // namespace tandem
