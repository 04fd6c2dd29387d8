// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "common/base/units.h"
#include "common/kernels/precision.h"
#include "common/model/model.h"
#include "common/optim/make_optimizer.h"

namespace tandem::bench {

// What one step asks of a device that does all of it, whatever the strategy does around it.
struct StepWork {
  // Operations that are enqueued, each one task of a host device or at least one kernel of a GPU.
  std::int64_t forward = 0;
  std::int64_t loss = 0;  // with its gradient
  std::int64_t backward = 0;
  std::int64_t update = 0;  // of weights and gradients that lie in one piece each
  double product_flops = 0;
  Bytes optimizer_bytes;  // read and written by the update, gaps between parameters included

  [[nodiscard]] std::int64_t operations() const { return forward + loss + backward + update; }
};

// Counted, not calculated: the model, its objective and the optimizer enqueue a step of `batch`
// samples on operations that carry nothing out. Takes no memory to speak of.
[[nodiscard]] StepWork count_step(const Model& model, std::int64_t batch, Precision precision,
                                  const OptimizerOptions& optimizer);

}  // namespace tandem::bench
