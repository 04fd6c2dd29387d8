// SPDX-License-Identifier: Apache-2.0
//
// One rank of a communicator under test, and what its memory must hold: every rank's values follow
// from its number. They are small integers, so that sums of eight ranks are exact in every type.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "common/base/error.h"
#include "common/comm/transports/transport_registry.h"
#include "common/runtime/copy.h"
#include "tests/comm/elements.h"
#include "tests/support/errors.h"
#include "tests/support/host_devices.h"

namespace tandem::test {

// What a communicator gave, and what the device gave, of which the other ranks see nothing.
enum class Memory { kAllocated, kOther };
inline constexpr std::array kMemories{Memory::kAllocated, Memory::kOther};
inline constexpr std::array kReductions{ReduceOp::kSum, ReduceOp::kAverage};

// A GPU's memory goes when no rank is in a collective: all of them free theirs at the same point.
struct FreeTogether {
  Communicator* ranks = nullptr;  // absent on the host, where nothing waits for it
  void operator()(Buffer* buffer) const {
    if (ranks != nullptr) static_cast<void>(capture_error([this] { ranks->barrier(); }));
    delete buffer;
  }
};

template <class T>
struct DeviceValues {
  std::unique_ptr<Buffer, FreeTogether> buffer;
  [[nodiscard]] Span<T> span() const { return buffer->as<T>(); }
};

struct ContractRank {
  ContractRank(Bootstrap& bootstrap, Platform& platform, Transport transport,
               const CommunicatorOptions& options)
      : ContractRank(
            platform.device(bootstrap.rank()),
            make_communicator(transport, bootstrap, platform.device(bootstrap.rank()), options)) {}

  ContractRank(Device& its_device, std::unique_ptr<Communicator> its_communicator)
      : rank(its_communicator->rank()),
        size(its_communicator->size()),
        device(its_device),
        communicator(std::move(its_communicator)),
        copies(device.make_stream(StreamPriority::kNormal)),
        stream(device.make_stream(StreamPriority::kNormal)) {}

  template <class T>
  [[nodiscard]] DeviceValues<T> memory(Memory from, std::int64_t elements) const {
    const Bytes bytes = bytes_of<T>(elements);
    const bool is_gpu = device.id().backend == Backend::kCuda;
    if (is_gpu && from == Memory::kOther) communicator->barrier();
    auto buffer =
        from == Memory::kAllocated ? communicator->allocate(bytes) : device.allocate(bytes);
    return {{buffer.release(), FreeTogether{is_gpu ? communicator.get() : nullptr}}};
  }

  template <class T>
  [[nodiscard]] static std::vector<T> values_of(int rank, std::int64_t count) {
    std::array<T, kPeriod> first;
    for (int i = 0; i < kPeriod; ++i) first[static_cast<std::size_t>(i)] = T(value_of(rank, i));
    return repeated(first, count);
  }

  template <class T>
  [[nodiscard]] std::vector<T> reduced(std::int64_t count, ReduceOp op) const {
    const float factor = op == ReduceOp::kAverage ? 1.0F / static_cast<float>(size) : 1.0F;
    std::array<T, kPeriod> first;
    for (int i = 0; i < kPeriod; ++i) {
      float sum = 0;
      for (int peer = 0; peer < size; ++peer) sum += value_of(peer, i);
      first[static_cast<std::size_t>(i)] = T(sum * factor);
    }
    return repeated(first, count);
  }

  template <class T>
  void put(Span<T> to, std::vector<T> values) const {
    enqueue_copy(*copies, to, Span<T>(values.data(), to.size(), DeviceId{}));
    copies->synchronize();
  }
  template <class T>
  void put_own(Span<T> to) const {
    put(to, values_of<T>(rank, to.size()));
  }
  template <class T>
  [[nodiscard]] std::vector<T> held(Span<T> span) const {
    std::vector<T> values(static_cast<std::size_t>(span.size()));
    enqueue_copy(*copies, Span<T>(values.data(), span.size(), DeviceId{}), Span<const T>(span));
    copies->synchronize();
    return values;
  }

  // Small integers, which repeat.
  static constexpr int kPeriod = 5;
  [[nodiscard]] static float value_of(int rank, int i) {
    return static_cast<float>((2 * i + 3 * rank) % kPeriod);
  }

  const int rank;
  const int size;
  Device& device;
  const std::unique_ptr<Communicator> communicator;
  const std::unique_ptr<Stream>
      copies;  // one for all that is put and held: a thread each takes time
  const std::unique_ptr<Stream> stream;  // last: ends its work first
};

// `body(zero)` with a value of each stored type.
template <class Body>
void for_each_type(Body&& body) {
  body(float{});
  body(BFloat16{});
  body(Float16{});
}

// Elements that take two of the transports' chunks of 1 MiB, the last one odd.
template <class T>
constexpr std::int64_t kTwoChunks = (1 << 20) / static_cast<std::int64_t>(sizeof(T)) + 37;

}  // namespace tandem::test
