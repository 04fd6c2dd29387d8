// SPDX-License-Identifier: Apache-2.0
#include "common/optim/adam.h"

#include "common/optim/pairing.h"

namespace tandem {

Adam::Adam(Device& device, std::int64_t count, AdamOptions options)
    : options_(options),
      count_(count),
      first_moment_(allocate_state(device, count)),
      second_moment_(allocate_state(device, count)) {}

void Adam::step(Operations& operations, Stream& stream, const std::vector<Span<float>>& weights,
                const std::vector<Span<const float>>& gradients) {
  const std::vector<Stretch> stretches = stretches_of(weights, gradients, count_);
  ++steps_;  // one step, however many pieces there are
  for (const Stretch& stretch : stretches) {
    const std::int64_t size = stretch.weight.size();
    operations.enqueue(
        stream, AdamUpdate{.gradient = stretch.gradient,
                           .first = first_moment_->as<float>().subspan(stretch.offset, size),
                           .second = second_moment_->as<float>().subspan(stretch.offset, size),
                           .weight = stretch.weight,
                           .learning_rate = options_.learning_rate,
                           .beta1 = options_.beta1,
                           .beta2 = options_.beta2,
                           .epsilon = options_.epsilon,
                           .step = steps_,
                           .decay = options_.weight_decay});
  }
}

void Adam::step(Operations& operations, Stream& stream, Span<float> weights,
                Span<const float> gradients) {
  step(operations, stream, std::vector{weights}, std::vector{gradients});
}

}  // namespace tandem
