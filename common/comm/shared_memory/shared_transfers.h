// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"
#include "common/comm/shared_memory/allocations.h"
#include "common/comm/shared_memory/rendezvous.h"
#include "common/runtime/host/host_memory.h"
#include "common/runtime/stream.h"

namespace tandem {

// Scatter and gather, as one rank's stream worker carries them out. Where the communicator
// allocated the root's memory, every other rank copies its own block from or to that memory, on its
// own core; else the blocks pass through the ranks' stages, a chunk at a time.
class BlockTransfer {
 public:
  BlockTransfer(int rank, const Allocations& allocations, CollectiveMeeting& meeting)
      : rank_(rank), allocations_(allocations), meeting_(meeting) {}

  // The common part of a scatter and a gather: each rank's block, the root, and the place of the
  // ranks' stages.
  struct Plan {
    std::vector<Block> blocks{};  // in bytes
    int root = 0;
    std::int64_t note = 0;
    AllocationPlace stage{};
  };

  void scatter(const Plan& plan, ConstByteSpan source, ByteSpan mine);
  void gather(const Plan& plan, ConstByteSpan mine, ByteSpan destination);

 private:
  [[nodiscard]] AllocationPlace open(const Plan& plan, const std::byte* at_root);
  [[nodiscard]] std::shared_ptr<std::byte> memory_of_root(AllocationPlace place, int root);
  [[nodiscard]] const Block& my_block(const Plan& plan) const {
    return plan.blocks[static_cast<std::size_t>(rank_)];
  }
  void scatter_staged(const Plan& plan, ConstByteSpan source, ByteSpan mine);
  void gather_staged(const Plan& plan, ConstByteSpan mine, ByteSpan destination);

  const int rank_;
  const Allocations& allocations_;
  CollectiveMeeting& meeting_;
};

// Texts of any length among the ranks of a node, through a slot of a page per rank.
class TextExchange {
 public:
  // Collective. `meeting` belongs to the thread that calls all_gather() and outlives this exchange.
  TextExchange(Bootstrap& bootstrap, Rendezvous& meeting);

  // Every rank's text, by rank.
  [[nodiscard]] std::vector<std::string> all_gather(const std::string& mine);

 private:
  struct Slot;
  [[nodiscard]] Slot& slot(int rank) const;
  void put(const std::string& mine, std::size_t done);

  const int rank_;
  const int ranks_;
  const std::shared_ptr<host::SharedMapping> mapping_;
  Rendezvous& meeting_;
};

}  // namespace tandem
