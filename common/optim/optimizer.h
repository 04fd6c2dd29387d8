// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/kernels/operations.h"
#include "common/runtime/device.h"

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

// Weights and their gradients in one piece of memory each, which one operation updates.
struct Stretch {
  Span<float> weight;
  Span<const float> gradient;
  std::int64_t offset = 0;  // the piece's place among all weights, in list order
};

// Joins the two lists, segment by segment, where neighbours are adjacent in both. Throws a logic
// error where the lists do not pair up or do not add up to `count`. All is checked before any
// operation is enqueued, so that a step is taken whole or not at all.
[[nodiscard]] std::vector<Stretch> stretches_of(const std::vector<Span<float>>& weights,
                                                const std::vector<Span<const float>>& gradients,
                                                std::int64_t count);

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

// Options in double, as in Python (see AdamUpdate).
struct AdamOptions {
  double learning_rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;  // AdamW's decay of the weights, apart from gradient and moments
};

// The options of torch's AdamW, with torch's defaults.
[[nodiscard]] constexpr AdamOptions adamw_defaults() { return {.weight_decay = 1e-2}; }

// torch's Adam with torch's defaults, without amsgrad; with weight decay torch's AdamW. Both
// moments start at zero. Owns the moments, two elements per weight.
class Adam final : public Optimizer {
 public:
  // An optimizer for `count` > 0 weights on `device`.
  Adam(Device& device, std::int64_t count, AdamOptions options = {});

  void step(Operations& operations, Stream& stream, const std::vector<Span<float>>& weights,
            const std::vector<Span<const float>>& gradients) override;
  void step(Operations& operations, Stream& stream, Span<float> weights,
            Span<const float> gradients) override;

  [[nodiscard]] const AdamOptions& options() const { return options_; }
  [[nodiscard]] std::int64_t steps() const { return steps_; }  // steps taken so far

 private:
  const AdamOptions options_;
  const std::int64_t count_;
  const std::unique_ptr<Buffer> first_moment_;
  const std::unique_ptr<Buffer> second_moment_;
  std::int64_t steps_ = 0;
};

enum class OptimizerKind { kSgd, kAdam, kAdamW };

// The kind of optimizer and the options of each kind; options of the other kinds are ignored.
struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::kSgd;
  SgdOptions sgd{};
  AdamOptions adam{};
  AdamOptions adamw = adamw_defaults();
};

// An optimizer for `count` > 0 weights on `device`.
[[nodiscard]] std::unique_ptr<Optimizer> make_optimizer(Device& device, std::int64_t count,
                                                        const OptimizerOptions& options);

}  // namespace tandem
