// SPDX-License-Identifier: Apache-2.0
#include "common/comm/block_transfer.h"

#include <algorithm>

#include "common/comm/stage.h"

namespace tandem {
namespace {

// A rank's part of one round through the stages.
struct Part {
  std::size_t rank = 0;
  std::int64_t offset = 0;
  std::int64_t count = 0;
};

// All parts of the round that starts `done` elements into each block.
std::vector<Part> parts_of(const std::vector<Block>& blocks, std::int64_t done) {
  std::vector<Part> parts;
  for (std::size_t rank = 0; rank < blocks.size(); ++rank) {
    const std::int64_t count = staged_part(blocks[rank].count, done);
    if (count > 0) parts.push_back({rank, blocks[rank].offset + done, count});
  }
  return parts;
}

std::int64_t longest(const std::vector<Block>& blocks) {
  return std::ranges::max(blocks, {}, &Block::count).count;
}

}  // namespace

// Gives every rank the place of the root's memory, which the other ranks can use only where the
// communicator allocated it.
Place BlockTransfer::open(const Plan& plan, const std::byte* at_root,
                          const host::ModelledTime& ready) {
  const Place mine = rank_ == plan.root ? allocations_.place_of(at_root) : Place{};
  meeting_.open(plan.opening, mine, ready);
  return meeting_.place_of(plan.root);
}

std::shared_ptr<std::byte> BlockTransfer::memory_of_root(Place place, int root) {
  auto memory = allocations_.at(place, root);
  if (!memory) meeting_.fail_for_freed(root);
  return memory;
}

host::ModelledTime BlockTransfer::scatter(const Plan& plan, ConstByteSpan source, ByteSpan mine,
                                          const host::ModelledTime& ready) {
  const Place place = open(plan, source.data(), ready);
  if (place.is_allocated()) {
    const auto memory = memory_of_root(place, plan.root);
    copy_bytes(mine.data(), memory.get() + my_block(plan).offset, mine.size());
  } else {
    scatter_staged(plan, source, mine);
  }
  return meeting_.close(plan.opening);
}

host::ModelledTime BlockTransfer::gather(const Plan& plan, ConstByteSpan mine, ByteSpan destination,
                                         const host::ModelledTime& ready) {
  const Place place = open(plan, destination.data(), ready);
  if (place.is_allocated()) {
    const auto memory = memory_of_root(place, plan.root);
    copy_bytes(memory.get() + my_block(plan).offset, mine.data(), mine.size());
  } else {
    gather_staged(plan, mine, destination);
  }
  return meeting_.close(plan.opening);
}

// The root fills every rank's stage, and each rank empties its own. All stages are free by now: a
// rank that used a stage in an earlier collective was done with that stage before the rank came to
// this collective's first meeting.
void BlockTransfer::scatter_staged(const Plan& plan, ConstByteSpan source, ByteSpan mine) {
  const std::vector<std::byte*> stages = allocations_.views_of(plan.stage);
  for (std::int64_t done = 0; done < longest(plan.blocks); done += kStageBytes) {
    if (rank_ == plan.root) {
      for (const Part& part : parts_of(plan.blocks, done)) {
        copy_bytes(stages[part.rank], source.data() + part.offset, part.count);
      }
    }
    meeting_.meet();
    const std::byte* const stage = stages[static_cast<std::size_t>(rank_)];
    copy_bytes(mine.data() + done, stage, staged_part(mine.size(), done));
    meeting_.meet();
  }
}

// Each rank fills its stage, and the root empties all stages.
void BlockTransfer::gather_staged(const Plan& plan, ConstByteSpan mine, ByteSpan destination) {
  const std::vector<std::byte*> stages = allocations_.views_of(plan.stage);
  for (std::int64_t done = 0; done < longest(plan.blocks); done += kStageBytes) {
    std::byte* const stage = stages[static_cast<std::size_t>(rank_)];
    copy_bytes(stage, mine.data() + done, staged_part(mine.size(), done));
    meeting_.meet();
    if (rank_ == plan.root) {
      for (const Part& part : parts_of(plan.blocks, done)) {
        copy_bytes(destination.data() + part.offset, stages[part.rank], part.count);
      }
    }
    meeting_.meet();
  }
}

}  // namespace tandem
