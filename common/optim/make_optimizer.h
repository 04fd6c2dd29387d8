// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "common/optim/adam.h"
#include "common/optim/sgd.h"

namespace tandem {

enum class OptimizerKind { kSgd, kAdam, kAdamW };

// Which optimizer, and the options of each: those of the other kinds are not looked at.
struct OptimizerOptions {
  OptimizerKind kind = OptimizerKind::kSgd;
  SgdOptions sgd{};
  AdamOptions adam{};
  AdamOptions adamw = adamw_defaults();
};

// For `count` > 0 weights on `device`.
[[nodiscard]] std::unique_ptr<Optimizer> make_optimizer(Device& device, std::int64_t count,
                                                        const OptimizerOptions& options);

}  // namespace tandem
