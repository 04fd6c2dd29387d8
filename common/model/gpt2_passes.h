// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/model/gpt2_activations.h"
#include "common/model/passes.h"

namespace tandem {

// The operands of both passes of a GPT-2. Borrows all of them for the length of a call.
struct Gpt2Pass {
  Executor on;
  const Gpt2Shape& shape;
  LayerParameters parameters;
  Span<const float> ids;  // (batch, sequence)
  Gpt2Activations& kept;

  [[nodiscard]] std::int64_t norms() const { return 2 * shape.layers + 1; }
};

// Enqueues forward up to the logits, and all of backward behind the loss.
void gpt2_forward(const Gpt2Pass& pass);
void gpt2_backward(const Gpt2Pass& pass, const GradientPlaces& gradients);

}  // namespace tandem
