// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>

#include "dp/flattened_gradients.h"
#include "dp/reduce_to_root.h"

namespace tandem::dp {
namespace {

class SequentialReduce final : public ReduceToRoot {
 public:
  SequentialReduce(const Gradients& gradients, const ParameterLayout& layout, Bytes chunk_limit)
      : replicas_(gradients.replicas), own_(gradients.arenas.front()) {
    if (replicas_.size() == 1) return;
    gradients_.emplace(gradients, layout, chunk_limit);
    for (Replica* const replica : replicas_) {
      flat_ready_.push_back(replica->device().make_event());
    }
    std::int64_t largest = 0;
    for (const Chunk& chunk : gradients_->chunks()) largest = std::max(largest, chunk.count);
    Device& root = replicas_.front()->device();
    arrived_ = root.allocate(bytes_of<float>(largest));
    sum_ = root.allocate(own_.bytes());
  }

  [[nodiscard]] Span<float> sum() override { return sum_ ? sum_->as<float>() : own_; }

  void enqueue() override {
    if (replicas_.size() == 1) return;
    for (std::size_t i = 0; i < replicas_.size(); ++i) flatten(i);
    Replica& root = *replicas_.front();
    root.timer().begin(root.stream(), Phase::kIdle);
    for (std::size_t peer = 1; peer < replicas_.size(); ++peer) {
      root.stream().wait(*flat_ready_[peer]);
    }
    root.timer().begin(root.stream(), Phase::kReduce);
    for (const Chunk& chunk : gradients_->chunks()) add_up(chunk);
  }

 private:
  void flatten(std::size_t replica) {
    gradients_->flatten(replica);
    replicas_[replica]->stream().record(*flat_ready_[replica]);
  }

  void add_up(const Chunk& chunk) {
    Replica& root = *replicas_.front();
    const Span<float> sum = chunk.of(sum_->as<float>());
    const Span<float> arrived = arrived_->as<float>(chunk.count);
    for (std::size_t peer = 1; peer < replicas_.size(); ++peer) {
      root.timer().copy(root.stream(), arrived, gradients_->of(peer, chunk));
      const Span<const float> so_far = peer == 1 ? gradients_->of(0, chunk) : sum;
      root.operations().enqueue(root.stream(), Add{.a = so_far, .b = arrived, .sum = sum});
    }
  }

  const std::vector<Replica*> replicas_;
  const Span<float> own_;                           // the root's gradients
  std::optional<FlattenedGradients> gradients_;     // absent with one replica
  std::vector<std::unique_ptr<Event>> flat_ready_;  // per replica: after its last chunk
  std::unique_ptr<Buffer> arrived_;  // on the root: one peer's chunk, as large as the largest
  std::unique_ptr<Buffer> sum_;      // on the root
};

}  // namespace

std::unique_ptr<ReduceToRoot> make_sequential_reduce(const Gradients& gradients,
                                                     const ParameterLayout& layout,
                                                     Bytes chunk_limit) {
  return std::make_unique<SequentialReduce>(gradients, layout, chunk_limit);
}

}  // namespace tandem::dp
