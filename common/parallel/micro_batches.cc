// SPDX-License-Identifier: Apache-2.0
#include "common/parallel/micro_batches.h"

#include "common/base/error.h"

namespace tandem {
namespace {

// Part `index` of `parts` equal parts.
Span<const float> part_of(Span<const float> all, int index, int parts) {
  const std::int64_t size = all.size() / parts;
  return all.subspan(index * size, size);
}

}  // namespace

// Adds gradients that a later backward writes to the sums.
class MicroBatches::Accumulator final : public GradientSink {
 public:
  Accumulator(Replica& replica, const ParameterLayout& layout)
      : replica_(replica), latest_(make_arena(replica.device(), layout)) {}

  // Gradients that a later backward writes, by segment.
  [[nodiscard]] const TensorList& latest() const { return latest_.tensors; }

  // Sets the sums that gradient_ready() adds to, and the sink that receives each sum. Both
  // outlive the backward.
  void add_to(const TensorList& sums, GradientSink& next) {
    sums_ = &sums;
    next_ = &next;
  }

  void gradient_ready(int segment) override {
    const auto index = static_cast<std::size_t>(segment);
    const Span<float> sum = (*sums_)[index];
    replica_.operations().enqueue(replica_.stream(),
                                  Add{.a = sum, .b = latest_.tensors[index], .sum = sum});
    next_->gradient_ready(segment);
  }

 private:
  Replica& replica_;
  const Arena latest_;
  const TensorList* sums_ = nullptr;
  GradientSink* next_ = nullptr;
};

std::int64_t MicroBatches::size(std::int64_t samples, int count) {
  if (samples % count != 0) {
    fail(ErrorKind::kUsage,
         "{} micro-batches do not divide a device's {} samples: gradients would not be those of "
         "the whole batch; use a number that does",
         count, samples);
  }
  return samples / count;
}

MicroBatches::MicroBatches(Replica& replica, const ParameterLayout& layout, int count,
                           Span<float> loss)
    : replica_(replica), count_(count), loss_(loss) {
  if (count_ > 1) accumulator_ = std::make_unique<Accumulator>(replica_, layout);
}

// The stream may still add up what the accumulator holds.
MicroBatches::~MicroBatches() {
  if (accumulator_ == nullptr) return;
  static_cast<void>(capture_error([this] { replica_.stream().synchronize(); }));
}

void MicroBatches::train(Span<const float> inputs, Span<const float> targets,
                         const TensorList& sums, GradientSink& last, Interpreter& interpreter) {
  for (int i = 0; i < count_; ++i) {
    const Span<const float> part = part_of(inputs, i, count_);
    forward_and_loss(part, part_of(targets, i, count_), interpreter);
    replica_.timer().begin(replica_.stream(), Phase::kBackward);
    IgnoreGradients nobody;
    GradientSink& sink = i == count_ - 1 ? last : nobody;
    replica_.begin_backward(interpreter);
    if (i == 0) {
      replica_.backward(part, sums, sink);
    } else {
      accumulator_->add_to(sums, sink);
      replica_.backward(part, accumulator_->latest(), *accumulator_);
    }
    replica_.end_backward(interpreter);
  }
}

void MicroBatches::forward_and_loss(Span<const float> inputs, Span<const float> targets,
                                    Interpreter& interpreter) {
  Stream& stream = replica_.stream();
  replica_.timer().begin(stream, Phase::kForward);
  replica_.forward(inputs, interpreter);
  replica_.timer().begin(stream, Phase::kLoss);
  replica_.compute_loss(targets, loss_, interpreter);
  if (count_ == 1) return;
  // The usual loop divides the loss, so that the sum of gradients is that of the mean loss.
  dispatch(interpreter, stream, DispatchKind::kOperation);
  const Span<float> gradient = replica_.output_gradient().as<float>();
  replica_.operations().enqueue(
      stream, Scale{.in = gradient, .out = gradient, .factor = 1.0F / static_cast<float>(count_)});
}

}  // namespace tandem
