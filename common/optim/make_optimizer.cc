// SPDX-License-Identifier: Apache-2.0
#include "common/optim/make_optimizer.h"

namespace tandem {

std::unique_ptr<Optimizer> make_optimizer(Device& device, std::int64_t count,
                                          const OptimizerOptions& options) {
  switch (options.kind) {
    case OptimizerKind::kSgd:
      return std::make_unique<SgdMomentum>(device, count, options.sgd);
    case OptimizerKind::kAdam:
      return std::make_unique<Adam>(device, count, options.adam);
    case OptimizerKind::kAdamW:
      return std::make_unique<Adam>(device, count, options.adamw);
  }
  fail(ErrorKind::kLogic, "no such optimizer");
}

}  // namespace tandem
