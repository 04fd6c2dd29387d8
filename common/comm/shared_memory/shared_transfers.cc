// SPDX-License-Identifier: Apache-2.0
#include "common/comm/shared_memory/shared_transfers.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <new>

#include "common/base/error.h"
#include "common/comm/bootstrap.h"
#include "common/comm/node_memory.h"
#include "common/comm/shared_memory/allocations.h"

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
AllocationPlace BlockTransfer::open(const Plan& plan, const std::byte* at_root) {
  const AllocationPlace mine =
      rank_ == plan.root ? allocations_.place_of(at_root) : AllocationPlace{};
  meeting_.open(plan.note, mine);
  return meeting_.place_of(plan.root);
}

std::shared_ptr<std::byte> BlockTransfer::memory_of_root(AllocationPlace place, int root) {
  auto memory = allocations_.at(place, root);
  if (!memory) meeting_.fail_for_freed(root);
  return memory;
}

void BlockTransfer::scatter(const Plan& plan, ConstByteSpan source, ByteSpan mine) {
  const AllocationPlace place = open(plan, source.data());
  if (place.is_allocated()) {
    const auto memory = memory_of_root(place, plan.root);
    copy_bytes(mine.data(), memory.get() + my_block(plan).offset, mine.size());
  } else {
    scatter_staged(plan, source, mine);
  }
  meeting_.meet();
}

void BlockTransfer::gather(const Plan& plan, ConstByteSpan mine, ByteSpan destination) {
  const AllocationPlace place = open(plan, destination.data());
  if (place.is_allocated()) {
    const auto memory = memory_of_root(place, plan.root);
    copy_bytes(memory.get() + my_block(plan).offset, mine.data(), mine.size());
  } else {
    gather_staged(plan, mine, destination);
  }
  meeting_.meet();
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

struct TextExchange::Slot {
  std::size_t size;  // size of the whole text
  std::array<char, 4096 - sizeof(std::size_t)> part;
};

TextExchange::TextExchange(Bootstrap& bootstrap, Rendezvous& meeting)
    : rank_(bootstrap.rank()),
      ranks_(bootstrap.size()),
      mapping_(map_node_memory(bootstrap, Bytes{ranks_ * static_cast<std::int64_t>(sizeof(Slot))})),
      meeting_(meeting) {
  attempt_together(bootstrap, [&] {
    const auto size = static_cast<std::int64_t>(sizeof(Slot));
    mapping_->reserve(Bytes{rank_ * size}, Bytes{size});
  });
}

TextExchange::Slot& TextExchange::slot(int rank) const {
  return std::launder(reinterpret_cast<Slot*>(mapping_->data()))[rank];
}

void TextExchange::put(const std::string& mine, std::size_t done) {
  Slot& to = slot(rank_);
  to.size = mine.size();
  if (done >= mine.size()) return;
  std::memcpy(to.part.data(), mine.data() + done, std::min(to.part.size(), mine.size() - done));
}

std::vector<std::string> TextExchange::all_gather(const std::string& mine) {
  std::vector<std::string> all(static_cast<std::size_t>(ranks_));
  std::size_t longest = 0;
  std::size_t done = 0;
  do {
    put(mine, done);
    meeting_.meet();
    for (int rank = 0; rank < ranks_; ++rank) {
      const Slot& from = slot(rank);
      std::string& text = all[static_cast<std::size_t>(rank)];
      text.append(from.part.data(), std::min(from.part.size(), from.size - text.size()));
      longest = std::max(longest, from.size);
    }
    done += std::tuple_size_v<decltype(Slot::part)>;
    meeting_.meet();  // no rank puts the next part before all have read this one
  } while (done < longest);
  return all;
}

}  // namespace tandem
