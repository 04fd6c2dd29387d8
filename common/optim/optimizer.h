// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/kernels/operations.h"

namespace tandem {

// Updates a fixed number of weights from their gradients. Owns its state per weight, on one device.
// Used from one thread at a time; the owner synchronises the stream before the optimizer is
// destroyed.
class Optimizer {
 public:
  Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;

  // Enqueues one update of all weights. The two lists pair up segment by segment and have as many
  // elements as at construction, in the same order in every call, since state is laid out in list
  // order. Neighbours that are adjacent in both lists become one operation, so that a flat arena
  // costs one pass over memory for any number of parameters.
  virtual void step(Operations& operations, Stream& stream, const std::vector<Span<float>>& weights,
                    const std::vector<Span<const float>>& gradients) = 0;

  // One update where all weights, and all gradients, lie in one piece.
  virtual void step(Operations& operations, Stream& stream, Span<float> weights,
                    Span<const float> gradients) = 0;
};

}  // namespace tandem
