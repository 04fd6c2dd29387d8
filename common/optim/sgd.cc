// SPDX-License-Identifier: Apache-2.0
#include "common/optim/sgd.h"

#include "common/optim/pairing.h"

namespace tandem {

SgdMomentum::SgdMomentum(Device& device, std::int64_t count, SgdOptions options)
    : options_(options),
      buffer_(allocate_state(device, count)),
      velocity_(buffer_->as<float>(count)) {}

void SgdMomentum::step(Operations& operations, Stream& stream,
                       const std::vector<Span<float>>& weights,
                       const std::vector<Span<const float>>& gradients) {
  for (const Stretch& stretch : stretches_of(weights, gradients, velocity_.size())) {
    operations.enqueue(
        stream, SgdUpdate{.gradient = stretch.gradient,
                          .velocity = velocity_.subspan(stretch.offset, stretch.weight.size()),
                          .weight = stretch.weight,
                          .learning_rate = options_.learning_rate,
                          .momentum = options_.momentum});
  }
}

void SgdMomentum::step(Operations& operations, Stream& stream, Span<float> weights,
                       Span<const float> gradients) {
  step(operations, stream, std::vector{weights}, std::vector{gradients});
}

}  // namespace tandem
