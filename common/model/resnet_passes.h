// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/model/passes.h"
#include "common/model/resnet_activations.h"

namespace tandem {

// The operands of both passes of a ResNet. Borrows all of them for the length of a call.
struct ResNetPass {
  Executor on;
  const ResNetPlan& plan;
  LayerParameters parameters;
  Span<const float> images;  // (batch, height, width, 3), or as ImageOptions says
  ResNetActivations& kept;

  // The first convolution's input.
  [[nodiscard]] ConstAnySpan input() const {
    return kept.copies() != nullptr ? ConstAnySpan(kept.input()) : ConstAnySpan(images);
  }

  // The input of a block.
  [[nodiscard]] ConstAnySpan input_of(std::size_t block) const {
    return block == 0 ? kept.pooled() : kept.unit(plan.blocks()[block - 1].expand).after;
  }
};

// Enqueue forward up to the logits, which advances the running statistics among `buffers`, and all
// of backward behind the loss.
void resnet_forward(const ResNetPass& pass, const TensorList& buffers);
void resnet_backward(const ResNetPass& pass, const GradientPlaces& gradients);

}  // namespace tandem
