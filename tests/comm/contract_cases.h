// SPDX-License-Identifier: Apache-2.0
//
// Steps that several cases of the communicators' contract share.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include "tests/comm/contract_rank.h"

namespace tandem::test {

template <class T>
void expect_all_reduce_in_place(ContractRank& on, Span<T> values, ReduceOp op) {
  on.put_own(values);
  on.communicator->all_reduce(*on.stream, values, op);
  on.stream->synchronize();
  EXPECT_PRED2(same_elements, on.held(values), on.reduced<T>(values.size(), op));
}

// Uneven blocks that leave gaps, the last rank's first; `empty` gets none.
[[nodiscard]] inline std::vector<Block> uneven_blocks(int ranks, std::int64_t largest, int empty) {
  std::vector<Block> all(static_cast<std::size_t>(ranks));
  std::int64_t next = 3;
  for (int peer = ranks - 1; peer >= 0; --peer) {
    all[static_cast<std::size_t>(peer)] = {next, peer == empty ? 0 : largest - peer};
    next += largest + 1;
  }
  return all;
}

// Where a rank is the root, with or without an empty block for it.
template <class T>
struct BlocksCase {
  BlocksCase(ContractRank& rank, Memory memory, std::int64_t largest, int root_rank)
      : on(rank),
        root(root_rank),
        total((largest + 1) * on.size + 3),
        blocks(uneven_blocks(on.size, largest, root == 0 ? 0 : -1)),
        block(blocks[static_cast<std::size_t>(on.rank)]),
        whole(on.memory<T>(memory, total)),
        part(on.memory<T>(memory, largest)) {}

  [[nodiscard]] Span<T> at_root() const { return on.rank == root ? whole.span() : Span<T>{}; }
  [[nodiscard]] Span<T> mine() const { return part.span().subspan(0, block.count); }

  void expect_scatter() const {
    const std::vector<T> all = on.values_of<T>(root, total);
    if (on.rank == root) on.put(at_root(), all);
    on.communicator->scatter(*on.stream, at_root(), mine(), blocks, root);
    on.stream->synchronize();
    const auto first = all.begin() + block.offset;
    EXPECT_PRED2(same_elements, on.held(mine()), std::vector<T>(first, first + block.count));
  }

  void expect_gather() const {
    on.put_own(mine());
    std::vector<T> expected(static_cast<std::size_t>(total), T(9.0F));
    if (on.rank == root) on.put(at_root(), expected);
    on.communicator->gather(*on.stream, mine(), at_root(), blocks, root);
    on.stream->synchronize();
    if (on.rank != root) return;
    for (int peer = 0; peer < on.size; ++peer) {
      const Block& theirs = blocks[static_cast<std::size_t>(peer)];
      std::ranges::copy(on.values_of<T>(peer, theirs.count), expected.begin() + theirs.offset);
    }
    EXPECT_PRED2(same_elements, on.held(at_root()), expected);  // what belongs to no block stays
  }

  ContractRank& on;
  const int root;
  const std::int64_t total;
  const std::vector<Block> blocks;
  const Block block;
  const DeviceValues<T> whole;
  const DeviceValues<T> part;
};

// Writes down what it sees. Read once as many have finished as are expected.
struct RecordingObserver final : CollectiveObserver {
  using Calls = std::vector<std::string>;

  void enqueued(const CollectiveCall& call) noexcept override { note(all_enqueued, call); }
  void started(const CollectiveCall& call) noexcept override { note(all_started, call); }
  void finished(const CollectiveCall& call) noexcept override { note(all_finished, call); }
  void note(Calls& calls, const CollectiveCall& call) {
    const std::lock_guard lock(mutex_);
    calls.push_back(fmt::format("#{} {} {}", call.sequence, call.name, call.size.value));
    changed_.notify_all();
  }

  // A watching thread may see the end later than who waits for the stream.
  [[nodiscard]] bool await_finished(std::size_t count) {
    std::unique_lock lock(mutex_);
    return changed_.wait_until(lock, Clock::now() + std::chrono::seconds(20),
                               [&] { return all_finished.size() >= count; });
  }

  Calls all_enqueued;
  Calls all_started;
  Calls all_finished;

 private:
  std::mutex mutex_;  // guards the lists while ranks run
  std::condition_variable changed_;
};

}  // namespace tandem::test
