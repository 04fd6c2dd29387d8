// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/model/resnet_activations.h"

namespace tandem {

// The operands of both passes of a ResNet. Borrows all of them for the length of a call.
struct ResNetPass {
  Executor on;
  const ResNetPlan& plan;
  const ConstTensorList& parameters;
  Span<const float> images;  // (batch, height, width, 3)
  ResNetActivations& kept;

  [[nodiscard]] Span<const float> fp32(int segment) const {
    return parameters.at(static_cast<std::size_t>(segment));
  }

  // The factor in a layer's product: the parameter itself or its narrow copy.
  [[nodiscard]] ConstAnySpan factor(int segment) const {
    if (const ParameterCopies* const copies = kept.copies()) return copies->of(segment);
    return fp32(segment);
  }

  // The first convolution's input.
  [[nodiscard]] ConstAnySpan input() const {
    return kept.copies() != nullptr ? ConstAnySpan(kept.input()) : ConstAnySpan(images);
  }

  // The input of a block.
  [[nodiscard]] ConstAnySpan input_of(std::size_t block) const {
    return block == 0 ? kept.pooled() : kept.unit(plan.blocks()[block - 1].expand).after;
  }
};

// The place of backward's gradients, and the sink that is told of gradients.
struct ResNetGradients {
  const TensorList& tensors;
  GradientSink& sink;

  [[nodiscard]] Span<float> of(int segment) const {
    return tensors.at(static_cast<std::size_t>(segment));
  }
};

// Enqueue forward up to the logits, which advances the running statistics among `buffers`, and all
// of backward behind the loss.
void resnet_forward(const ResNetPass& pass, const TensorList& buffers);
void resnet_backward(const ResNetPass& pass, const ResNetGradients& gradients);

}  // namespace tandem
