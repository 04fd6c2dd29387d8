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

  void check_broadcast(Span<float> values, int root) {
    put(device, values, values_of(rank, values.size()));
    communicator->broadcast(*stream, values, root);
    stream->synchronize();
    EXPECT_EQ(read_back<float>(device, values), values_of(root, values.size()));
  }

  void check_reduce(Span<float> values, int root) {
    put(device, values, values_of(rank, values.size()));
    communicator->reduce(*stream, values, root);
    stream->synchronize();
    EXPECT_EQ(read_back<float>(device, values),
              rank == root ? sum(values.size(), 1) : values_of(rank, values.size()));
  }

  // `at_root` is used on root; each rank's part lies in its `mine`.
  void check_scatter(Span<float> at_root, Span<float> mine, const std::vector<Block>& blocks,
                     int root) {
    const Values all = values_of(root, at_root.size());
    if (rank == root) put(device, at_root, all);
    const Block& block = blocks[static_cast<std::size_t>(rank)];
    const Span<float> part = mine.subspan(0, block.count);
    communicator->scatter(*stream, rank == root ? at_root : Span<float>{}, part, blocks, root);
    stream->synchronize();
    EXPECT_EQ(read_back<float>(device, part),
              Values(all.begin() + block.offset, all.begin() + block.offset + block.count));
  }

  void check_gather(Span<float> mine, Span<float> at_root, const std::vector<Block>& blocks,
                    int root) {
    const std::int64_t count = blocks[static_cast<std::size_t>(rank)].count;
    put(device, mine.subspan(0, count), values_of(rank, count));
    const Values before = values_of(size, at_root.size());
    if (rank == root) put(device, at_root, before);
    communicator->gather(*stream, mine.subspan(0, count), rank == root ? at_root : Span<float>{},
                         blocks, root);
    stream->synchronize();
    if (rank != root) return;
    Values expected = before;  // what belongs to no block stays
    for (int peer = 0; peer < size; ++peer) {
      const Block& block = blocks[static_cast<std::size_t>(peer)];
      std::ranges::copy(values_of(peer, block.count), expected.begin() + block.offset);
    }
    EXPECT_EQ(read_back<float>(device, at_root), expected);
  }

  // Uneven blocks that leave gaps, the last rank's first; `empty` gets none.
  [[nodiscard]] std::vector<Block> blocks(std::int64_t largest, int empty) const {
    std::vector<Block> all(static_cast<std::size_t>(size));
    std::int64_t next = 3;
    for (int peer = size - 1; peer >= 0; --peer) {
      all[static_cast<std::size_t>(peer)] = {next, peer == empty ? 0 : largest - peer};
      next += largest + 1;
    }
    return all;
  }

  // From and to any root, with and without an empty block, on memory of every kind.
  void check_blocks(std::int64_t largest) {
    const std::int64_t total = (largest + 1) * size + 3;
    const auto shared_all = communicator->allocate(bytes_of_floats(total));
    const auto shared_mine = communicator->allocate(bytes_of_floats(largest));
    const auto own_all = device.allocate(bytes_of_floats(total));
    const auto own_mine = device.allocate(bytes_of_floats(largest));
    for (int root = 0; root < size; ++root) {
      const auto parts = blocks(largest, root == 0 ? 0 : -1);
      check_scatter(shared_all->as<float>(), own_mine->as<float>(), parts, root);
      check_scatter(own_all->as<float>(), shared_mine->as<float>(), parts, root);
      check_gather(own_mine->as<float>(), shared_all->as<float>(), parts, root);
      check_gather(shared_mine->as<float>(), own_all->as<float>(), parts, root);
    }
  }

  const int rank;
  const int size;
  Device& device;
  const std::unique_ptr<Communicator> communicator;
  const std::unique_ptr<Stream> stream;  // last: ends its work first
};

}  // namespace tandem::test
