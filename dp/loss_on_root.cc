// SPDX-License-Identifier: Apache-2.0
#include "dp/loss.h"

namespace tandem::dp {
namespace {

std::vector<Shape> output_shapes(const LossParts& parts) {
  std::vector<Shape> shapes;
  for (const Piece& piece : parts.pieces) shapes.push_back({piece.count, parts.width});
  return shapes;
}

class LossOnRoot final : public Loss {
 public:
  LossOnRoot(const LossParts& parts, const Targets& targets, Shortcut shortcut)
      : output_(parts.output_device),
        replicas_(parts.replicas),
        objective_(parts.objective),
        given_targets_(targets.whole),
        place_(targets.place),
        loss_(output_.device().allocate(bytes_of<float>(1))) {
    if (shortcut == Shortcut::kNotTaken) {
      gather_ = std::make_unique<Gather>(output_, replicas_, output_shapes(parts));
    }
    if (given_targets_.device() == output_.device().id()) return;
    targets_ = output_.device().allocate(given_targets_.bytes());
  }

  void load_targets(Interpreter& caller) override {
    if (!targets_) return;
    output_.begin(Phase::kScatter);
    dispatch(caller, output_.stream());
    output_.timer().copy(output_.stream(), targets_->as<float>(), given_targets_);
    if (place_ == InputPlace::kPageable) output_.stream().synchronize();
  }

  void finish_forward(int replica, Interpreter&) override {
    if (gather_) gather_->offer(replica);
  }

  void gather(Interpreter& caller) override {
    if (!gather_) return;
    std::vector<Span<float>> outputs;
    for (Replica* const replica : replicas_) outputs.push_back(replica->output());
    gather_->enqueue(outputs, caller);
  }

  void compute(Interpreter& caller) override {
    output_.begin(Phase::kLoss);
    dispatch(caller, output_.stream());
    enqueue_loss(output_.operations(), output_.stream(), objective_,
                 {.prediction = gathered(),
                  .target = targets(),
                  .gradient = gradient(),
                  .loss = loss_->as<float>()});
  }

  void scatter_gradient(Interpreter& caller) override {
    if (!gather_) return;
    std::vector<Span<float>> gradients;
    for (Replica* const replica : replicas_) gradients.push_back(replica->output_gradient());
    gather_->scatter_back(gradients, caller);
  }

  void begin_backward(int) override {}

  [[nodiscard]] Span<const float> gathered() override {
    return gather_ ? gather_->gathered() : replicas_.front()->output();
  }
  [[nodiscard]] Span<const float> value() const override { return loss_->as<float>(); }

 private:
  [[nodiscard]] Span<const float> targets() {
    return targets_ ? Span<const float>(targets_->as<float>()) : given_targets_;
  }
  [[nodiscard]] Span<float> gradient() {
    return gather_ ? gather_->gradient() : replicas_.front()->output_gradient();
  }

  OutputDevice& output_;
  const std::vector<Replica*> replicas_;
  const Objective objective_;
  const Span<const float> given_targets_;
  const InputPlace place_;
  const std::unique_ptr<Buffer> loss_;
  std::unique_ptr<Buffer> targets_;  // null: the given targets are on the output device
  std::unique_ptr<Gather> gather_;   // null with the shortcut
};

}  // namespace

std::unique_ptr<Loss> make_loss_on_root(const LossParts& parts, const Targets& targets,
                                        Shortcut shortcut) {
  return std::make_unique<LossOnRoot>(parts, targets, shortcut);
}

}  // namespace tandem::dp
