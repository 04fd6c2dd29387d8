// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/optim/optimizer.h"

namespace tandem {

struct SgdOptions {
  float learning_rate = 0.01F;
  float momentum = 0.9F;
};

// Stochastic gradient descent with momentum, as torch's SGD with torch's other defaults: v =
// momentum * v + g, w -= learning_rate * v, with v starting at zero. Owns the velocity, one element
// per weight.
class SgdMomentum final : public Optimizer {
 public:
  // An optimizer for `count` > 0 weights on `device`.
  SgdMomentum(Device& device, std::int64_t count, SgdOptions options = {});

  void step(Operations& operations, Stream& stream, const std::vector<Span<float>>& weights,
            const std::vector<Span<const float>>& gradients) override;
  void step(Operations& operations, Stream& stream, Span<float> weights,
            Span<const float> gradients) override;

  [[nodiscard]] const SgdOptions& options() const { return options_; }
  [[nodiscard]] Span<float> velocity() const { return velocity_; }

 private:
  const SgdOptions options_;
  const std::unique_ptr<Buffer> buffer_;
  const Span<float> velocity_;
};

}  // namespace tandem
