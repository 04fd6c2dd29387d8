// SPDX-License-Identifier: Apache-2.0
#include "common/parallel/coalesced_reduction.h"

#include <algorithm>

#include "common/runtime/copy.h"

namespace tandem {

CoalescedReduction::CoalescedReduction(const std::vector<Replica*>& replicas,
                                       const std::vector<Span<float>>& gradients,
                                       const ParameterLayout& layout, Bytes chunk_limit)
    : replicas_(replicas), gradients_(gradients), chunks_(reduction_chunks(layout, chunk_limit)) {
  if (replicas.size() == 1) return;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    flat_.push_back(make_staging(replicas[i]->device(), chunks_));
    flat_ready_.push_back(replicas[i]->device().make_event());
  }
  std::int64_t largest = 0;
  for (const Chunk& chunk : chunks_) largest = std::max(largest, chunk.count);
  arrived_ = replicas.front()->device().allocate(
      Bytes{largest * static_cast<std::int64_t>(sizeof(float))});
  sum_ = replicas.front()->device().allocate(gradients.front().bytes());
}

Span<float> CoalescedReduction::sum() { return sum_ ? sum_->as<float>() : gradients_.front(); }

// A chunk of one tensor is only viewed.
Span<float> CoalescedReduction::flat_of(std::size_t replica, const Chunk& chunk) {
  return chunk.is_staged() ? chunk.staged_in(flat_[replica]->as<float>())
                           : chunk.of(gradients_[replica]);
}

void CoalescedReduction::flatten(std::size_t replica) {
  Replica& on = *replicas_[replica];
  on.timer().begin(on.stream(), Phase::kReduce);
  for (const Chunk& chunk : chunks_) {
    if (!chunk.is_staged()) continue;
    enqueue_copy(on.stream(), flat_of(replica, chunk), chunk.of(gradients_[replica]));
  }
  on.stream().record(*flat_ready_[replica]);
}

// sum = root + peer 1, then sum += peer 2, and so on: the order is fixed.
void CoalescedReduction::add_up(const Chunk& chunk) {
  Replica& root = *replicas_.front();
  const Span<float> sum = chunk.of(sum_->as<float>());
  const Span<float> arrived = arrived_->as<float>(chunk.count);
  for (std::size_t peer = 1; peer < replicas_.size(); ++peer) {
    enqueue_copy(root.stream(), arrived, flat_of(peer, chunk));
    const Span<const float> so_far = peer == 1 ? flat_of(0, chunk) : sum;
    root.operations().enqueue(root.stream(), Add{.a = so_far, .b = arrived, .sum = sum});
  }
}

void CoalescedReduction::enqueue() {
  if (replicas_.size() == 1) return;
  for (std::size_t i = 0; i < replicas_.size(); ++i) flatten(i);
  Replica& root = *replicas_.front();
  root.timer().begin(root.stream(), Phase::kIdle);
  for (std::size_t peer = 1; peer < replicas_.size(); ++peer) {
    root.stream().wait(*flat_ready_[peer]);
  }
  root.timer().begin(root.stream(), Phase::kReduce);
  for (const Chunk& chunk : chunks_) add_up(chunk);
}

}  // namespace tandem
