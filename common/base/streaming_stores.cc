// SPDX-License-Identifier: Apache-2.0
#include "common/base/streaming_stores.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#if defined(__x86_64__)
#include <emmintrin.h>
#endif

namespace tandem {
namespace {

void copy_plainly(float* to, const float* from, std::int64_t count) {
  std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(float));
}

}  // namespace

#if defined(__x86_64__)

// Only this fence orders streaming stores; the release of an atomic does not.
StreamingStores::~StreamingStores() { _mm_sfence(); }

void StreamingStores::copy(float* to, const float* from, std::int64_t count) {
  constexpr std::int64_t kFloats = 4;  // floats in a store
  const auto past_boundary =
      static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(to) / sizeof(float) % kFloats);
  const std::int64_t head = std::min(count, (kFloats - past_boundary) % kFloats);
  copy_plainly(to, from, head);
  std::int64_t i = head;
  for (; i + kFloats <= count; i += kFloats) _mm_stream_ps(to + i, _mm_loadu_ps(from + i));
  copy_plainly(to + i, from + i, count - i);
}

#else

StreamingStores::~StreamingStores() = default;

void StreamingStores::copy(float* to, const float* from, std::int64_t count) {
  copy_plainly(to, from, count);
}

#endif

}  // namespace tandem
