// SPDX-License-Identifier: Apache-2.0
#include "common/model/passes.h"

namespace tandem {

void enqueue_linear_backward(const Executor& on, const LayerParameters& parameters,
                             const GradientPlaces& gradients, const LinearSegments& segments,
                             const LinearOperands& operands) {
  const auto& [shape, x, dy, dx] = operands;
  const auto& [weight, bias] = segments;
  if (!dx.empty()) {
    on.enqueue(LinearBackwardInput{
        .shape = shape, .dy = dy, .weight = parameters.factor(weight), .dx = dx});
  }
  on.enqueue(LinearBackwardWeight{.shape = shape,
                                  .x = x,
                                  .dy = dy,
                                  .dweight = gradients.of(weight),
                                  .dbias = gradients.of(bias)});
  const bool casts = parameters.copies != nullptr;
  if (casts) gradients.sink.gradient_ready(weight);
  if (bias != LinearSegments::kNone) gradients.sink.gradient_ready(bias);
  if (!casts) gradients.sink.gradient_ready(weight);
}

void Initialiser::random(int segment, float scale) const {
  const auto index = static_cast<std::size_t>(segment);
  on.enqueue(FillRandom{.values = parameters.at(index),
                        .seed = seed,
                        .first = static_cast<std::uint64_t>(layout.segments()[index].offset),
                        .distribution = distribution,
                        .scale = scale});
}

void Initialiser::constant(int segment, float value) const {
  on.enqueue(Fill{.values = parameters.at(static_cast<std::size_t>(segment)), .constant = value});
}

}  // namespace tandem
