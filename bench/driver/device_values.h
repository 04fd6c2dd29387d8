// SPDX-License-Identifier: Apache-2.0
//
// Elements of any stored type, written to and read from a device through a chunk of host memory,
// so that checking needs little memory beside what is checked.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>

#include "common/base/dtype.h"
#include "common/runtime/copy.h"
#include "common/runtime/platform.h"
#include "common/runtime/span.h"

namespace tandem::bench {

// The values with which copies and collectives are checked: whole numbers so small that sums over
// all ranks are exact in the stored type, so that every element of every result is known to the
// bit. Values differ between ranks and from element to element without a period, so that a part
// which comes from the wrong rank or lands in the wrong place shows.
class Pattern {
 public:
  // Throws a usage error where sums over so many ranks are not exact in `type`.
  Pattern(DType type, int ranks);

  // The value of rank `rank` at `index` of the larger buffer.
  [[nodiscard]] float value(int rank, std::int64_t index) const {
    const auto place =
        static_cast<std::uint64_t>(index) * kGolden + static_cast<std::uint64_t>(rank);
    const std::uint64_t mixed = (place ^ (place >> 29)) * kGolden;
    return static_cast<float>(((mixed >> 32) * values_) >> 32);
  }

  // The sum of all ranks' values at `index`.
  [[nodiscard]] float sum(std::int64_t index) const {
    float sum = 0;
    for (int rank = 0; rank < ranks_; ++rank) sum += value(rank, index);
    return sum;
  }

 private:
  static constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15;  // 2^64 / golden ratio, odd

  int ranks_;
  std::uint64_t values_;  // values lie in [0, values_)
};

struct WrongElement {
  std::int64_t index = 0;  // index into the larger buffer
  float got = 0;
  float expected = 0;
};

// The wrong elements that were found in the memory of one rank.
struct WrongElements {
  std::int64_t wrong = 0;  // number of wrong elements
  std::optional<WrongElement> first{};
};

// Calls `body` with a value of the type that `type` names.
template <class Body>
void with_type(DType type, const Body& body) {
  switch (type) {
    case DType::kFloat32:
      return body(float{});
    case DType::kBFloat16:
      return body(BFloat16{});
    case DType::kFloat16:
      return body(Float16{});
  }
}

// Values in the memory of the stream's device, or in the host's. Blocks the caller; one thread at a
// time.
class DeviceValues {
 public:
  DeviceValues(Platform& platform, Stream& stream)
      : stream_(stream), chunk_(platform.allocate_host(kChunk)) {}

  // Element i becomes value(first + i), rounded.
  template <class Value>
  void write(AnySpan to, std::int64_t first, const Value& value) {
    with_type(to.dtype(), [&]<class T>(T) {
      for_each_chunk<T>(to, [&](std::int64_t done, Span<T> chunk) {
        for (std::int64_t i = 0; i < chunk.size(); ++i) {
          chunk.data()[i] = static_cast<T>(value(first + done + i));
        }
        copy(to.subspan(done, chunk.size()).bytes(), as_bytes(chunk));
      });
    });
  }

  // Compares element i with value(first + i), rounded.
  template <class Value>
  [[nodiscard]] WrongElements compare(ConstAnySpan from, std::int64_t first, const Value& value) {
    WrongElements findings;
    with_type(from.dtype(), [&]<class T>(T) {
      for_each_chunk<T>(from, [&](std::int64_t done, Span<T> chunk) {
        copy(as_writable_bytes(chunk), from.subspan(done, chunk.size()).bytes());
        for (std::int64_t i = 0; i < chunk.size(); ++i) {
          const auto got = static_cast<float>(chunk.data()[i]);
          const auto expected = static_cast<float>(static_cast<T>(value(first + done + i)));
          if (got == expected) continue;
          if (!findings.first) findings.first = {first + done + i, got, expected};
          ++findings.wrong;
        }
      });
    });
    return findings;
  }

 private:
  static constexpr Bytes kChunk = mib(4);

  void copy(ByteSpan to, ConstByteSpan from) {
    if (to.device().is_host_memory() && from.device().is_host_memory()) {
      std::memcpy(to.data(), from.data(), static_cast<std::size_t>(to.size()));
      return;
    }
    enqueue_copy_bytes(stream_, to, from);
    stream_.synchronize();
  }

  template <class T, class Any, class Body>
  void for_each_chunk(const Any& all, const Body& body) {
    const Span<T> chunk = chunk_->as<T>();
    for (std::int64_t done = 0; done < all.size(); done += chunk.size()) {
      body(done, chunk.subspan(0, std::min(chunk.size(), all.size() - done)));
    }
  }

  Stream& stream_;
  const std::unique_ptr<Buffer> chunk_;
};

}  // namespace tandem::bench
