// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "common/optim/adam.h"
#include "common/optim/sgd.h"

namespace tandem {

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
