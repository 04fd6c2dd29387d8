// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/comm/allocations.h"
#include "common/comm/collective_meeting.h"
#include "common/comm/communicator.h"
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
    Opening opening{};
    Place stage{};
  };

  host::ModelledTime scatter(const Plan& plan, ConstByteSpan source, ByteSpan mine,
                             const host::ModelledTime& ready);
  host::ModelledTime gather(const Plan& plan, ConstByteSpan mine, ByteSpan destination,
                            const host::ModelledTime& ready);

 private:
  [[nodiscard]] Place open(const Plan& plan, const std::byte* at_root,
                           const host::ModelledTime& ready);
  [[nodiscard]] std::shared_ptr<std::byte> memory_of_root(Place place, int root);
  [[nodiscard]] const Block& my_block(const Plan& plan) const {
    return plan.blocks[static_cast<std::size_t>(rank_)];
  }
  void scatter_staged(const Plan& plan, ConstByteSpan source, ByteSpan mine);
  void gather_staged(const Plan& plan, ConstByteSpan mine, ByteSpan destination);

  const int rank_;
  const Allocations& allocations_;
  CollectiveMeeting& meeting_;
};

}  // namespace tandem
