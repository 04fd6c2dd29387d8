// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/kernels/operations.h"
#include "common/runtime/device.h"

namespace tandem {

// Updates a fixed number of weights from their gradients. Owns its state per weight, on one device.
// Used from one thread at a time; the owner synchronises the stream before the optimizer is
// destroyed.
class Optimizer : boost::noncopyable {
 public:
  virtual ~Optimizer() = default;

  // Enqueues one update of all weights. The two lists pair up segment by segment and have as many
  // elements as at construction, in the same order in every call, since state is laid out in list
  // order. The update is one operation.
  virtual void step(Operations& operations, Stream& stream, const std::vector<Span<float>>& weights,
                    const std::vector<Span<const float>>& gradients) = 0;

  // One update where all weights, and all gradients, lie in one piece.
  void step(Operations& operations, Stream& stream, Span<float> weights,
            Span<const float> gradients) {
    step(operations, stream, std::vector{weights}, std::vector{gradients});
  }
};

// Stochastic gradient descent with momentum, as torch's SGD with torch's other defaults: v =
// momentum * v + g, w -= learning_rate * v, with v starting at zero.
struct SgdOptions {
  float learning_rate = 0.01F;
  float momentum = 0.9F;
};

// torch's Adam with torch's defaults, without amsgrad; with weight decay torch's AdamW. Both
// moments start at zero. Options in double, as in Python (see AdamRates).
struct AdamOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;  // AdamW's decay of the weights, apart from gradient and moments
};

// The options of torch's AdamW, with torch's defaults.
[[nodiscard]] constexpr AdamOptions adamw_defaults() { return {.weight_decay = 1e-2}; }

enum class OptimizerKind { kSgd, kAdam, kAdamW };

// The kind of optimizer and the options of each kind; options of the other kinds are ignored.
struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::kSgd;
  SgdOptions sgd{};
  AdamOptions adam{};
  AdamOptions adamw = adamw_defaults();
};

// An optimizer for `count` > 0 weights on `device`. A step is taken whole or not at all: a logic
// error where the two lists do not pair up or do not add up to `count`.
[[nodiscard]] std::unique_ptr<Optimizer> make_optimizer(Device& device, std::int64_t count,
                                                        const OptimizerOptions& options);

}  // namespace tandem
