// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/kernels/operations.h"

namespace tandem {

struct SgdOptions {
  float learning_rate = 0.01F;
  float momentum = 0.9F;
};

// Stochastic gradient descent with momentum, as torch's SGD with its defaults otherwise:
// v = momentum * v + g, w -= learning_rate * v, v starting at zero. Owns the velocity, one element
// per weight, on one device. Used from one thread at a time; the owner synchronises the stream
// before it goes.
class SgdMomentum {
 public:
  // For `count` > 0 weights on `device`.
  SgdMomentum(Device& device, std::int64_t count, SgdOptions options = {});

  // Enqueues one update of all weights. The two lists pair up segment by segment and add up to the
  // `count` of construction, in the same order in every call: velocity is laid out in list order.
  // Neighbours that are adjacent in both lists become one operation, so that a flat arena costs one
  // pass over memory, however many parameters lie in it.
  void step(Operations& operations, Stream& stream, const std::vector<Span<float>>& weights,
            const std::vector<Span<const float>>& gradients);

  // The same where all weights, and all gradients, lie in one piece.
  void step(Operations& operations, Stream& stream, Span<float> weights,
            Span<const float> gradients);

  [[nodiscard]] const SgdOptions& options() const { return options_; }
  [[nodiscard]] Span<float> velocity() const { return velocity_; }

 private:
  const SgdOptions options_;
  const std::unique_ptr<Buffer> buffer_;
  const Span<float> velocity_;
};

}  // namespace tandem
