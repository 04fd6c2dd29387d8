// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "common/parallel/coalescing.h"
#include "common/runtime/copy.h"
#include "dp/reduce_to_root.h"

namespace tandem::dp {
namespace {

class SequentialReduce final : public ReduceToRoot {
 public:
  SequentialReduce(const Gradients& gradients, const ParameterLayout& layout, Bytes chunk_limit)
      : replicas_(gradients.replicas),
        gradients_(gradients.arenas),
        chunks_(reduction_chunks(layout, chunk_limit)) {
    if (replicas_.size() == 1) return;
    for (Replica* const replica : replicas_) {
      flat_.push_back(make_staging(replica->device(), chunks_));
      flat_ready_.push_back(replica->device().make_event());
    }
    std::int64_t largest = 0;
    for (const Chunk& chunk : chunks_) largest = std::max(largest, chunk.count);
    Device& root = replicas_.front()->device();
    arrived_ = root.allocate(bytes_of<float>(largest));
    sum_ = root.allocate(gradients_.front().bytes());
  }

  [[nodiscard]] Span<float> sum() override { return sum_ ? sum_->as<float>() : gradients_.front(); }

  void enqueue() override {
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

 private:
  // A chunk of one tensor is only viewed.
  [[nodiscard]] Span<float> flat_of(std::size_t replica, const Chunk& chunk) {
    return chunk.flattened ? chunk.staged_in(flat_[replica]->as<float>())
                           : chunk.of(gradients_[replica]);
  }

  void flatten(std::size_t replica) {
    Replica& on = *replicas_[replica];
    on.timer().begin(on.stream(), Phase::kReduce);
    for (const Chunk& chunk : chunks_) {
      if (!chunk.flattened) continue;
      enqueue_copy(on.stream(), flat_of(replica, chunk), chunk.of(gradients_[replica]));
    }
    on.stream().record(*flat_ready_[replica]);
  }

  void add_up(const Chunk& chunk) {
    Replica& root = *replicas_.front();
    const Span<float> sum = chunk.of(sum_->as<float>());
    const Span<float> arrived = arrived_->as<float>(chunk.count);
    for (std::size_t peer = 1; peer < replicas_.size(); ++peer) {
      enqueue_copy(root.stream(), arrived, flat_of(peer, chunk));
      const Span<const float> so_far = peer == 1 ? flat_of(0, chunk) : sum;
      root.operations().enqueue(root.stream(), Add{.a = so_far, .b = arrived, .sum = sum});
    }
  }

  const std::vector<Replica*> replicas_;
  const std::vector<Span<float>> gradients_;
  const std::vector<Chunk> chunks_;
  std::vector<std::unique_ptr<Buffer>> flat_;       // per replica: the flattened chunks
  std::vector<std::unique_ptr<Event>> flat_ready_;  // per replica: all its chunks
  std::unique_ptr<Buffer> arrived_;                 // on the root: one peer's chunk, the largest
  std::unique_ptr<Buffer> sum_;                     // on the root
};

}  // namespace

std::unique_ptr<ReduceToRoot> make_sequential_reduce(const Gradients& gradients,
                                                     const ParameterLayout& layout,
                                                     Bytes chunk_limit) {
  return std::make_unique<SequentialReduce>(gradients, layout, chunk_limit);
}

}  // namespace tandem::dp
