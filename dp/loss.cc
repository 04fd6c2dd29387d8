// SPDX-License-Identifier: Apache-2.0
#include "dp/loss.h"

#include "common/runtime/copy.h"

namespace tandem::dp {

Loss::Loss(const LossParts& parts)
    : output_(parts.output_device),
      replicas_(parts.replicas),
      objective_(parts.objective),
      loss_(output_.device().allocate(bytes_of<float>(1))) {}

namespace {

std::unique_ptr<Buffer> scalar_on(Replica& replica) {
  return replica.device().allocate(bytes_of<float>(1));
}

// Each replica computes the loss of its own shard, as where the loss is a layer of the wrapped
// module. torch gathers the replicas' losses into a vector; the vector's plain mean would give
// uneven shards equal weight, so the loss here is sum(count_i / batch * loss_i), which is the
// batch's loss. The gradient of the vector is the weights: one number goes to each replica, as its
// output's gradient does with the loss on the root.
class LossInReplicas final : public Loss {
 public:
  LossInReplicas(const LossParts& parts, Scatter& scatter, int target_tensor)
      : Loss(parts),
        scatter_(scatter),
        target_tensor_(target_tensor),
        gather_(output_, replicas_, std::vector<std::int64_t>(replicas_.size(), 1)) {
    for (Replica* const replica : replicas_) {
      losses_.push_back(scalar_on(*replica));
      gradients_.push_back(scalar_on(*replica));
    }
    fill_weights(parts.shards);
  }

  void load_targets(Interpreter&) override {}  // the scatter brings the targets

  void finish_forward(int replica, Interpreter& worker) override {
    const auto index = static_cast<std::size_t>(replica);
    Replica& mine = *replicas_[index];
    mine.timer().begin(mine.stream(), Phase::kLoss);
    dispatch(worker, mine.stream(), DispatchKind::kCall);
    enqueue_loss(mine.operations(), mine.stream(), objective_,
                 {.prediction = mine.output(),
                  .target = targets_of(replica),
                  .loss = losses_[index]->as<float>(),
                  .padding = mine.output_padding()});
    gather_.offer(replica);
  }

  void gather(Interpreter& caller) override { gather_.enqueue(scalars(losses_), caller); }

  void compute(Interpreter& caller) override {
    output_.begin(Phase::kLoss);
    dispatch(caller, output_.stream(), DispatchKind::kCall);
    output_.operations().enqueue(output_.stream(),
                                 WeightedSum{.values = gather_.gathered().as<float>(),
                                             .weights = gather_.gradient().as<float>(),
                                             .sum = loss_->as<float>()});
  }

  void scatter_gradient(Interpreter& caller) override {
    gather_.scatter_back(scalars(gradients_), caller);
  }

  void begin_backward(int replica) override {
    const auto index = static_cast<std::size_t>(replica);
    Replica& mine = *replicas_[index];
    enqueue_loss(mine.operations(), mine.stream(), objective_,
                 {.prediction = mine.output(),
                  .target = targets_of(replica),
                  .gradient = mine.output_gradient(),
                  .loss_gradient = gradients_[index]->as<float>(),
                  .padding = mine.output_padding()});
  }

  [[nodiscard]] ConstAnySpan gathered() override { return gather_.gathered(); }

 private:
  using Scalars = std::vector<std::unique_ptr<Buffer>>;

  static std::vector<AnySpan> scalars(const Scalars& buffers) {
    std::vector<AnySpan> spans;
    for (const auto& buffer : buffers) spans.emplace_back(buffer->as<float>());
    return spans;
  }

  [[nodiscard]] Span<const float> targets_of(int replica) const {
    return scatter_.shard(replica, target_tensor_);
  }

  // The weights are constants, and are the gradient of the weighted mean.
  void fill_weights(const std::vector<Shard>& shards) {
    const auto batch = static_cast<float>(shards.back().first + shards.back().count);
    std::vector<float> weights;
    for (const Shard& shard : shards) weights.push_back(static_cast<float>(shard.count) / batch);
    const DeviceId host{output_.device().id().backend, DeviceId::kHostMemory};
    enqueue_copy(
        output_.stream(), gather_.gradient().as<float>(),
        Span<const float>(weights.data(), static_cast<std::int64_t>(weights.size()), host));
    output_.stream().synchronize();
  }

  Scatter& scatter_;
  const int target_tensor_;
  Gather gather_;
  Scalars losses_;     // per replica, on its device
  Scalars gradients_;  // gradient of each replica's loss, on the replica's device
};

}  // namespace

std::unique_ptr<Loss> make_loss_in_replicas(const LossParts& parts, Scatter& scatter,
                                            int target_tensor) {
  return std::make_unique<LossInReplicas>(parts, scatter, target_tensor);
}

namespace {

std::vector<std::int64_t> output_counts(const LossParts& parts) {
  std::vector<std::int64_t> counts;
  for (Replica* const replica : parts.replicas) counts.push_back(replica->output().size());
  return counts;
}

class LossOnRoot final : public Loss {
 public:
  LossOnRoot(const LossParts& parts, const Targets& targets, Shortcut shortcut)
      : Loss(parts), given_targets_(targets.whole), place_(targets.place) {
    if (shortcut == Shortcut::kNotTaken) {
      gather_ = std::make_unique<Gather>(output_, replicas_, output_counts(parts),
                                         replicas_.front()->output().dtype());
    }
    if (given_targets_.device() == output_.device().id()) return;
    targets_ = output_.device().allocate(given_targets_.size_bytes());
  }

  void load_targets(Interpreter& caller) override {
    if (!targets_) return;
    output_.begin(Phase::kScatter);
    dispatch(caller, output_.stream(), DispatchKind::kOperation);
    output_.timer().copy(output_.stream(), targets_->as<float>(), given_targets_);
    if (place_ == InputPlace::kPageable) output_.stream().synchronize();
  }

  void finish_forward(int replica, Interpreter&) override {
    if (gather_) gather_->offer(replica);
  }

  void gather(Interpreter& caller) override {
    if (!gather_) return;
    std::vector<AnySpan> outputs;
    for (Replica* const replica : replicas_) outputs.push_back(replica->output());
    gather_->enqueue(outputs, caller);
  }

  void compute(Interpreter& caller) override {
    output_.begin(Phase::kLoss);
    dispatch(caller, output_.stream(), DispatchKind::kCall);
    enqueue_loss(output_.operations(), output_.stream(), objective_,
                 {.prediction = gathered(),
                  .target = targets(),
                  .gradient = gradient(),
                  .loss = loss_->as<float>(),
                  .padding = replicas_.front()->output_padding()});
  }

  void scatter_gradient(Interpreter& caller) override {
    if (!gather_) return;
    std::vector<AnySpan> gradients;
    for (Replica* const replica : replicas_) gradients.push_back(replica->output_gradient());
    gather_->scatter_back(gradients, caller);
  }

  void begin_backward(int) override {}

  [[nodiscard]] ConstAnySpan gathered() override {
    return gather_ ? gather_->gathered() : replicas_.front()->output();
  }

 private:
  [[nodiscard]] Span<const float> targets() {
    return targets_ ? Span<const float>(targets_->as<float>()) : given_targets_;
  }
  [[nodiscard]] AnySpan gradient() {
    return gather_ ? gather_->gradient() : replicas_.front()->output_gradient();
  }

  const Span<const float> given_targets_;
  const InputPlace place_;
  std::unique_ptr<Buffer> targets_;  // null: the given targets are on the output device
  std::unique_ptr<Gather> gather_;   // null with the shortcut
};

}  // namespace

std::unique_ptr<Loss> make_loss_on_root(const LossParts& parts, const Targets& targets,
                                        Shortcut shortcut) {
  return std::make_unique<LossOnRoot>(parts, targets, shortcut);
}

}  // namespace tandem::dp
