// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/kernels/operations.h"

namespace tandem {

// Updates a fixed number of weights from their gradients. Owns what it keeps per weight, on one
// device. Used from one thread at a time; the owner synchronises the stream before it goes.
class Optimizer {
 public:
  Optimizer() = default;
  Optimizer(const Optimizer&) = delete;
  Optimizer& operator=(const Optimizer&) = delete;
  virtual ~Optimizer() = default;

  // Enqueues one update of all weights. The two lists pair up segment by segment and add up to the
  // count of construction, in the same order in every call: state is laid out in list order.
  // Neighbours that are adjacent in both lists become one operation, so that a flat arena costs one
  // pass over memory, however many parameters lie in it.
  virtual void step(Operations& operations, Stream& stream, const std::vector<Span<float>>& weights,
                    const std::vector<Span<const float>>& gradients) = 0;

  // The same where all weights, and all gradients, lie in one piece.
  virtual void step(Operations& operations, Stream& stream, Span<float> weights,
                    Span<const float> gradients) = 0;
};

}  // namespace tandem
