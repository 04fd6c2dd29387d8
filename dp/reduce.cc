// SPDX-License-Identifier: Apache-2.0
#include "dp/reduce.h"

#include <algorithm>
#include <optional>

#include "dp/coalescing.h"

namespace tandem::dp {

namespace {

class SequentialReduce final : public ReduceToRoot {
 public:
  SequentialReduce(const Gradients& gradients, const ParameterLayout& layout, Bytes chunk_limit)
      : replicas_(gradients.replicas), own_(gradients.arenas.front()) {
    if (replicas_.size() == 1) return;
    gradients_.emplace(gradients, layout, chunk_limit);
    for (Replica* const replica : replicas_) flat_ready_.push_back(replica->device().make_event());
    std::int64_t largest = 0;
    for (const Chunk& chunk : gradients_->chunks()) largest = std::max(largest, chunk.count);
    Device& root = replicas_.front()->device();
    arrived_ = root.allocate(bytes_of<float>(largest));
    sum_ = root.allocate(own_.size_bytes());
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

namespace {

class TreeReduce final : public ReduceToRoot {
 public:
  explicit TreeReduce(const Gradients& gradients)
      : replicas_(gradients.replicas), gradients_(gradients.arenas) {
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
      Device& device = replicas_[i]->device();
      const bool receives = i % 2 == 0 && i + 1 < replicas_.size();
      arrived_.push_back(receives ? device.allocate(gradients_[i].size_bytes()) : nullptr);
      partial_ready_.push_back(device.make_event());
    }
  }

  [[nodiscard]] Span<float> sum() override { return gradients_.front(); }

  void enqueue() override {
    const std::size_t count = replicas_.size();
    for (std::size_t distance = 1; distance < count; distance *= 2) {
      for (std::size_t i = 0; i + distance < count; i += 2 * distance) add(i, i + distance);
    }
  }

 private:
  // The sender's partial sum is final: in earlier rounds the sender was a receiver itself.
  void add(std::size_t receiver, std::size_t sender) {
    Replica& from = *replicas_[sender];
    from.stream().record(*partial_ready_[sender]);
    Replica& to = *replicas_[receiver];
    to.timer().begin(to.stream(), Phase::kIdle);
    to.stream().wait(*partial_ready_[sender]);
    to.timer().begin(to.stream(), Phase::kReduce);
    const Span<float> mine = gradients_[receiver];
    const Span<float> arrived = arrived_[receiver]->as<float>();
    to.timer().copy(to.stream(), arrived, gradients_[sender]);
    to.operations().enqueue(to.stream(), Add{.a = mine, .b = arrived, .sum = mine});
  }

  const std::vector<Replica*> replicas_;
  const std::vector<Span<float>> gradients_;
  std::vector<std::unique_ptr<Buffer>> arrived_;  // per replica; null where no gradients arrive
  std::vector<std::unique_ptr<Event>> partial_ready_;  // per replica: its partial sum
};

}  // namespace

std::unique_ptr<ReduceToRoot> make_tree_reduce(const Gradients& gradients) {
  return std::make_unique<TreeReduce>(gradients);
}

}  // namespace tandem::dp
