// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/kernels/adam_factors.h"
#include "common/kernels/operands.h"

namespace tandem {

// Updates each tensor, all in one operation as torch's foreach and fused optimizers do:
// velocity = momentum * velocity + gradient; weight -= learning_rate * velocity  (as torch's SGD)
struct SgdUpdate {
  struct Tensor {
    Span<const float> gradient;
    Span<float> velocity;
    Span<float> weight;
  };

  std::vector<Tensor> tensors{};
  float learning_rate = 0;
  float momentum = 0;

  [[nodiscard]] std::vector<Access> accesses() const {
    std::vector<Access> every;
    every.reserve(3 * tensors.size());
    for (const Tensor& t : tensors) {
      const std::int64_t all = t.gradient.size();
      add_checked(every, {{"gradient", t.gradient, all},
                          {"velocity", t.velocity, all},
                          {"weight", t.weight, all}});
    }
    return every;
  }
};

// The update of torch's Adam and AdamW of each tensor, in one operation. Counts the step t = 1, 2,
// ... in `clock`, then:
// first += (1 - beta1) (gradient - first); second = beta2 second + (1 - beta2) gradient^2;
// weight -= learning_rate / (1 - beta1^t) * first / (sqrt(second) / sqrt(1 - beta2^t) + epsilon)
struct AdamUpdate {
  struct Tensor {
    Span<const float> gradient;
    Span<float> first;   // first moment
    Span<float> second;  // second moment
    Span<float> weight;
  };

  std::vector<Tensor> tensors{};
  Span<float> clock{};  // an AdamClock
  AdamRates rates{};

  [[nodiscard]] std::vector<Access> accesses() const {
    std::vector<Access> every;
    every.reserve(4 * tensors.size() + 1);
    add_checked(every, {{"clock", clock, AdamClock::kFloats}});
    for (const Tensor& t : tensors) {
      const std::int64_t all = t.gradient.size();
      add_checked(every, {{"gradient", t.gradient, all},
                          {"first", t.first, all},
                          {"second", t.second, all},
                          {"weight", t.weight, all}});
    }
    return every;
  }
};

// The content of AdamUpdate's clock.
[[nodiscard]] inline AdamClock& clock_of(const AdamUpdate& op) {
  return *reinterpret_cast<AdamClock*>(op.clock.data());
}

namespace host {

void run(const SgdUpdate& op);
void run(const AdamUpdate& op);

}  // namespace host

}  // namespace tandem
