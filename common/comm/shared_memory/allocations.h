// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "common/runtime/host/host_memory.h"

namespace tandem {

// A place in memory that a communicator allocated, in terms that mean the same on every rank.
struct AllocationPlace {
  std::int64_t allocation = 0;    // the allocation's number; 0: not allocated by the communicator
  std::int64_t offset_bytes = 0;  // into a rank's region

  [[nodiscard]] bool is_allocated() const { return allocation != 0; }
};

// The allocations of a communicator, as one rank sees them: each allocation is one mapping with a
// region per rank, which lives as long as its buffers. Thread-safe: the caller adds allocations,
// streams look them up.
class Allocations {
 public:
  Allocations(int rank, int ranks) : rank_(rank), ranks_(ranks) {}

  // `stride` is the size of a region in bytes. Allocations are numbered in order, so the numbers
  // agree between ranks.
  void add(const std::shared_ptr<host::SharedMapping>& mapping, std::int64_t stride);

  // The place of this rank's memory at `mine`.
  [[nodiscard]] AllocationPlace place_of(const void* mine) const;

  // The address of `place` in the region of `rank`; null where this rank has freed its buffer of
  // that allocation. The pointer keeps the mapping alive.
  [[nodiscard]] std::shared_ptr<std::byte> at(AllocationPlace place, int rank) const;

  // The address of `place` in every rank's region, by rank.
  [[nodiscard]] std::vector<std::byte*> views_of(AllocationPlace place) const;

 private:
  struct Allocation {
    std::int64_t number = 0;
    std::weak_ptr<host::SharedMapping> mapping;
    std::byte* base = nullptr;
    std::int64_t stride = 0;
  };

  const int rank_;
  const int ranks_;
  mutable std::mutex mutex_;  // guards the members below
  std::int64_t added_ = 0;
  std::vector<Allocation> allocations_;
};

// The size in bytes of a rank's stage, memory that all ranks see and through which values of other
// memory pass chunk by chunk; independent of the caller's buckets.
constexpr std::int64_t kStageBytes = std::int64_t{1} << 20;

// The bytes of `size` that a stage takes in the round after `done` bytes; 0 where no bytes are
// left.
[[nodiscard]] constexpr std::int64_t staged_part(std::int64_t size, std::int64_t done,
                                                 std::int64_t stage = kStageBytes) {
  return std::clamp(size - done, std::int64_t{0}, stage);
}

// Copies nothing where both are the same place, as for a part that lies in its place already.
inline void copy_bytes(std::byte* to, const std::byte* from, std::int64_t count) {
  if (to == from || count == 0) return;
  std::memcpy(to, from, static_cast<std::size_t>(count));
}

}  // namespace tandem
