// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/runtime/any_span.h"

namespace tandem {

// Owns memory of one device (or pinned host memory). Zero-filled when new. Frees the memory on
// destruction: the owner must synchronise the streams first, so that no queued work uses the
// memory.
class Buffer {
 public:
  Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  virtual ~Buffer() = default;

  [[nodiscard]] virtual ByteSpan bytes() = 0;

  // The first `count` elements as T; by default all elements that fit.
  template <class T>
  [[nodiscard]] Span<T> as(std::int64_t count = -1) {
    const ByteSpan all = bytes();
    const std::int64_t fits = all.size() / static_cast<std::int64_t>(sizeof(T));
    TANDEM_CHECK(count <= fits, "{} elements asked of a buffer of {}", count, fits);
    return Span<T>(reinterpret_cast<T*>(all.data()), count < 0 ? fits : count, all.device());
  }

  // The first `count` elements, of a type that is known at run time.
  [[nodiscard]] AnySpan as(DType type, std::int64_t count) {
    const ByteSpan all = bytes();
    const std::int64_t fits = all.size() / size_of(type);
    TANDEM_CHECK(count <= fits, "{} elements asked of a buffer of {}", count, fits);
    return {all.data(), count, type, all.device()};
  }
};

}  // namespace tandem
