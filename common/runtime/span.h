// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/runtime/device_id.h"

namespace tandem {

// `size` elements at `data` on one device. Borrows the memory from its owner. Element type and
// count travel together, and the device tag lets every operation check its operands.
template <class T>
class Span {
 public:
  constexpr Span() = default;
  constexpr Span(T* data, std::int64_t size, DeviceId device)
      : data_(data), size_(size), device_(device) {}

  // Span<float> converts to Span<const float>.
  template <class U>
  requires(std::is_same_v<const U, T>) constexpr Span(
      const Span<U>& other)  // NOLINT(google-explicit-constructor)
      : Span(other.data(), other.size(), other.device()) {}

  [[nodiscard]] constexpr T* data() const { return data_; }
  [[nodiscard]] constexpr std::int64_t size() const { return size_; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  [[nodiscard]] constexpr Bytes bytes() const {
    return Bytes{size_ * static_cast<std::int64_t>(sizeof(T))};
  }
  [[nodiscard]] constexpr DeviceId device() const { return device_; }
  [[nodiscard]] constexpr T* begin() const { return data_; }
  [[nodiscard]] constexpr T* end() const { return data_ + size_; }

  [[nodiscard]] Span subspan(std::int64_t offset, std::int64_t count) const {
    TANDEM_CHECK(offset >= 0 && count >= 0 && offset + count <= size_,
                 "elements {}..{} of a span of {}", offset, offset + count, size_);
    return Span(data_ + offset, count, device_);
  }

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
  DeviceId device_;
};

using ByteSpan = Span<std::byte>;
using ConstByteSpan = Span<const std::byte>;

template <class T>
[[nodiscard]] ByteSpan as_writable_bytes(Span<T> span) {
  return {reinterpret_cast<std::byte*>(span.data()), span.bytes().value, span.device()};
}

template <class T>
[[nodiscard]] ConstByteSpan as_bytes(Span<T> span) {
  return {reinterpret_cast<const std::byte*>(span.data()), span.bytes().value, span.device()};
}

}  // namespace tandem
