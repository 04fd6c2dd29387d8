// SPDX-License-Identifier: Apache-2.0
//
// Each replica computes the loss of its own piece, as where the loss is a layer of the wrapped
// module. torch gathers the replicas' losses into a vector; the vector's plain mean would give
// uneven pieces equal weight, so the loss here is sum(count_i / batch * loss_i), which is the
// batch's loss. The gradient of the vector is the weights: one number goes to each replica, as its
// output's gradient does with the loss on the root.
#include "common/runtime/copy.h"
#include "dp/loss.h"

namespace tandem::dp {
namespace {

std::unique_ptr<Buffer> scalar_on(Replica& replica) {
  return replica.device().allocate(bytes_of<float>(1));
}

class LossInReplicas final : public Loss {
 public:
  LossInReplicas(const LossParts& parts, Scatter& scatter, int target_tensor)
      : output_(parts.output_device),
        replicas_(parts.replicas),
        objective_(parts.objective),
        scatter_(scatter),
        target_tensor_(target_tensor),
        gather_(output_, replicas_, std::vector<Shape>(replicas_.size())),
        loss_(output_.device().allocate(bytes_of<float>(1))) {
    for (Replica* const replica : replicas_) {
      losses_.push_back(scalar_on(*replica));
      gradients_.push_back(scalar_on(*replica));
    }
    fill_weights(parts.pieces);
  }

  void load_targets(Interpreter&) override {}  // the scatter brings the targets

  void finish_forward(int replica, Interpreter& worker) override {
    const auto index = static_cast<std::size_t>(replica);
    Replica& mine = *replicas_[index];
    mine.timer().begin(mine.stream(), Phase::kLoss);
    dispatch(worker, mine.stream());
    enqueue_loss(mine.operations(), mine.stream(), objective_,
                 {.prediction = mine.output(),
                  .target = targets_of(replica),
                  .gradient = {},
                  .loss = losses_[index]->as<float>()});
    gather_.offer(replica);
  }

  void gather(Interpreter& caller) override { gather_.enqueue(scalars(losses_), caller); }

  void compute(Interpreter& caller) override {
    output_.begin(Phase::kLoss);
    dispatch(caller, output_.stream());
    output_.operations().enqueue(output_.stream(), WeightedSum{.values = gather_.gathered(),
                                                               .weights = gather_.gradient(),
                                                               .sum = loss_->as<float>()});
  }

  void scatter_gradient(Interpreter& caller) override {
    gather_.scatter_back(scalars(gradients_), caller);
  }

  void begin_backward(int replica) override {
    const auto index = static_cast<std::size_t>(replica);
    Replica& mine = *replicas_[index];
    enqueue_loss_backward(mine.operations(), mine.stream(), objective_,
                          {.prediction = mine.output(),
                           .target = targets_of(replica),
                           .loss_gradient = gradients_[index]->as<float>(),
                           .gradient = mine.output_gradient()});
  }

  [[nodiscard]] Span<const float> gathered() override { return gather_.gathered(); }
  [[nodiscard]] Span<const float> value() const override { return loss_->as<float>(); }

 private:
  using Scalars = std::vector<std::unique_ptr<Buffer>>;

  static std::vector<Span<float>> scalars(const Scalars& buffers) {
    std::vector<Span<float>> spans;
    for (const auto& buffer : buffers) spans.push_back(buffer->as<float>());
    return spans;
  }

  [[nodiscard]] Span<const float> targets_of(int replica) const {
    return scatter_.piece(replica, target_tensor_);
  }

  // The weights are constants, and are the gradient of the weighted mean.
  void fill_weights(const std::vector<Piece>& pieces) {
    const auto batch = static_cast<float>(pieces.back().first + pieces.back().count);
    std::vector<float> weights;
    for (const Piece& piece : pieces) weights.push_back(static_cast<float>(piece.count) / batch);
    const DeviceId host{output_.device().id().backend, DeviceId::kHostMemory};
    enqueue_copy(
        output_.stream(), gather_.gradient(),
        Span<const float>(weights.data(), static_cast<std::int64_t>(weights.size()), host));
    output_.stream().synchronize();
  }

  OutputDevice& output_;
  const std::vector<Replica*> replicas_;
  const Objective objective_;
  Scatter& scatter_;
  const int target_tensor_;
  Gather gather_;
  const std::unique_ptr<Buffer> loss_;
  Scalars losses_;     // per replica, on its device
  Scalars gradients_;  // gradient of each replica's loss, on the replica's device
};

}  // namespace

std::unique_ptr<Loss> make_loss_in_replicas(const LossParts& parts, Scatter& scatter,
                                            int target_tensor) {
  return std::make_unique<LossInReplicas>(parts, scatter, target_tensor);
}

}  // namespace tandem::dp
