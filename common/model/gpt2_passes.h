// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/model/gpt2_activations.h"

namespace tandem {

// The operands of both passes of a GPT-2. Borrows all of them for the length of a call.
struct Gpt2Pass {
  Executor on;
  const Gpt2Shape& shape;
  const ConstTensorList& parameters;
  Span<const float> ids;  // (batch, sequence)
  Gpt2Activations& kept;

  [[nodiscard]] Span<const float> fp32(int segment) const {
    return parameters.at(static_cast<std::size_t>(segment));
  }

  // The factor in a layer's product: the parameter itself or its narrow copy.
  [[nodiscard]] ConstAnySpan factor(int segment) const {
    if (const ParameterCopies* const copies = kept.copies()) return copies->of(segment);
    return fp32(segment);
  }

  [[nodiscard]] std::int64_t norms() const { return 2 * shape.layers + 1; }
};

// The place of backward's gradients, and the sink that is told of gradients.
struct Gpt2Gradients {
  const TensorList& tensors;
  GradientSink& sink;

  [[nodiscard]] Span<float> of(int segment) const {
    return tensors.at(static_cast<std::size_t>(segment));
  }
};

// Enqueues forward up to the logits, and all of backward behind the loss.
void gpt2_forward(const Gpt2Pass& pass);
void gpt2_backward(const Gpt2Pass& pass, const Gpt2Gradients& gradients);

}  // namespace tandem
