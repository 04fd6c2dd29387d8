// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/optim/optimizer.h"

namespace tandem {

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

}  // namespace tandem
