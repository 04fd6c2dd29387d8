// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>

#include "common/comm/shared_memory/shared_memory.h"
#include "common/tensor/random.h"
#include "tests/support/errors.h"
#include "tests/support/host_devices.h"

namespace tandem::test {

// Elements that take three stages of 1 MiB, the last one odd.
constexpr std::int64_t kStagedElements = 2 * (1 << 18) + 37;

[[nodiscard]] constexpr Bytes bytes_of_floats(std::int64_t floats) { return Bytes{4 * floats}; }

// A rank with its device, communicator and a stream; what all ranks must end with, it works out
// itself, since every rank's values follow from its number.
struct CommunicatingRank {
  using Values = std::vector<float>;

  CommunicatingRank(Bootstrap& bootstrap, Platform& platform, Nanoseconds deadline)
      : rank(bootstrap.rank()),
        size(bootstrap.size()),
        device(platform.device(rank)),
        communicator(make_shared_memory_communicator(bootstrap, device, {.deadline = deadline})),
        stream(device.make_stream(StreamPriority::kNormal)) {}

  [[nodiscard]] static Values values_of(int rank, std::int64_t count) {
    Values values(static_cast<std::size_t>(count));
    fill_uniform(values, static_cast<std::uint64_t>(rank), 0, 1);
    return values;
  }

  // In rank order, then the factor: these bits and no others.
  [[nodiscard]] Values sum(std::int64_t count, float factor) const {
    Values total = values_of(0, count);
    for (int peer = 1; peer < size; ++peer) {
      const Values theirs = values_of(peer, count);
      for (std::size_t i = 0; i < total.size(); ++i) total[i] += theirs[i];
    }
    for (float& value : total) value *= factor;
    return total;
  }

  void check_all_reduce(Span<float> values, ReduceOp op) {
    put(device, values, values_of(rank, values.size()));
    communicator->all_reduce(*stream, values, op);
    stream->synchronize();
    const float factor = op == ReduceOp::kAverage ? 1.0F / static_cast<float>(size) : 1.0F;
    EXPECT_EQ(read_back<float>(device, values), sum(values.size(), factor));
  }

  void check_reduce(Span<float> values, int root) {
    put(device, values, values_of(rank, values.size()));
    communicator->reduce(*stream, values, root);
    stream->synchronize();
    EXPECT_EQ(read_back<float>(device, values),
              rank == root ? sum(values.size(), 1) : values_of(rank, values.size()));
  }

  const int rank;
  const int size;
  Device& device;
  const std::unique_ptr<Communicator> communicator;
  const std::unique_ptr<Stream> stream;  // last: ends its work first
};

}  // namespace tandem::test
