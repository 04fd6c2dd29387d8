// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "common/base/dtype.h"
#include "common/base/error.h"
#include "common/base/units.h"

namespace tandem {

enum class Backend { kHost, kCuda, kSimulated };

[[nodiscard]] std::string to_string(Backend backend);  // "host", "cuda", "simulated"

// Names one device of a platform, or the (pinned) host memory beside its devices.
struct DeviceId {
  Backend backend = Backend::kHost;
  int index = kHostMemory;

  static constexpr int kHostMemory = -1;

  [[nodiscard]] constexpr bool is_host_memory() const { return index == kHostMemory; }
  constexpr bool operator==(const DeviceId&) const = default;
};

[[nodiscard]] std::string to_string(DeviceId id);  // "host:1", "cuda:0", "host memory"

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
  [[nodiscard]] constexpr Bytes size_bytes() const {
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
  return {reinterpret_cast<std::byte*>(span.data()), span.size_bytes().value, span.device()};
}

template <class T>
[[nodiscard]] ConstByteSpan as_bytes(Span<T> span) {
  return {reinterpret_cast<const std::byte*>(span.data()), span.size_bytes().value, span.device()};
}

// Elements on one device whose type is known at run time, as collectives take elements: collectives
// move and add numbers of any stored type. Every Span of a stored type converts to a BasicAnySpan.
template <class Byte>
class BasicAnySpan {
 public:
  constexpr BasicAnySpan() = default;
  constexpr BasicAnySpan(Byte* data, std::int64_t size, DType type, DeviceId device)
      : data_(data), size_(size), type_(type), device_(device) {}

  template <class T>
  requires(std::is_const_v<Byte> || !std::is_const_v<T>)
      BasicAnySpan(const Span<T>& span)  // NOLINT(google-explicit-constructor)
      : BasicAnySpan(reinterpret_cast<Byte*>(span.data()), span.size(),
                     DTypeOf<std::remove_const_t<T>>::value, span.device()) {}

  // BasicAnySpan<std::byte> converts to a span of const bytes.
  template <class Other>
  requires(std::is_same_v<const Other, Byte>) constexpr BasicAnySpan(
      const BasicAnySpan<Other>& other)  // NOLINT(google-explicit-constructor)
      : BasicAnySpan(other.data(), other.size(), other.dtype(), other.device()) {}

  [[nodiscard]] constexpr Byte* data() const { return data_; }
  [[nodiscard]] constexpr std::int64_t size() const { return size_; }  // elements
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  [[nodiscard]] constexpr DType dtype() const { return type_; }
  [[nodiscard]] constexpr Bytes size_bytes() const { return Bytes{size_ * size_of(type_)}; }
  [[nodiscard]] constexpr DeviceId device() const { return device_; }

  // The same memory, untyped.
  [[nodiscard]] constexpr Span<Byte> bytes() const { return {data_, size_bytes().value, device_}; }

  // The same elements as T, which must be their type; an empty span is of any type.
  template <class T>
  requires(!std::is_const_v<Byte> || std::is_const_v<T>) [[nodiscard]] Span<T> as() const {
    const DType wanted = DTypeOf<std::remove_const_t<T>>::value;
    TANDEM_CHECK(empty() || type_ == wanted, "{} taken for {}", name_of(type_), name_of(wanted));
    return {reinterpret_cast<T*>(data_), size_, device_};
  }

  [[nodiscard]] BasicAnySpan subspan(std::int64_t offset, std::int64_t count) const {
    TANDEM_CHECK(offset >= 0 && count >= 0 && offset + count <= size_,
                 "elements {}..{} of a span of {}", offset, offset + count, size_);
    return {data_ + offset * size_of(type_), count, type_, device_};
  }

 private:
  Byte* data_ = nullptr;
  std::int64_t size_ = 0;
  DType type_ = DType::kFloat32;
  DeviceId device_;
};

using AnySpan = BasicAnySpan<std::byte>;
using ConstAnySpan = BasicAnySpan<const std::byte>;

}  // namespace tandem
