// SPDX-License-Identifier: Apache-2.0
#include "dp/reduce_to_root.h"

namespace tandem::dp {
namespace {

class TreeReduce final : public ReduceToRoot {
 public:
  explicit TreeReduce(const Gradients& gradients)
      : replicas_(gradients.replicas), gradients_(gradients.arenas) {
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
      Device& device = replicas_[i]->device();
      const bool receives = i % 2 == 0 && i + 1 < replicas_.size();
      arrived_.push_back(receives ? device.allocate(gradients_[i].bytes()) : nullptr);
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
