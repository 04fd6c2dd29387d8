// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/base/units.h"
#include "common/kernels/operation_work.h"
#include "common/kernels/precision.h"
#include "common/model/model.h"
#include "common/optim/optimizer.h"

namespace tandem::bench {

// The work that one step asks of a device that does the whole step, whatever the strategy adds.
struct StepWork {
  // Operations that are enqueued, each operation one task of a host device or at least one kernel
  // of a GPU.
  std::int64_t forward = 0;
  std::int64_t loss = 0;  // operations of the loss and its gradient
  std::int64_t backward = 0;
  std::int64_t update = 0;  // operations on weights and gradients in one piece each
  double product_flops = 0;
  Bytes optimizer_bytes;  // read and written by the update, gaps between parameters included

  [[nodiscard]] std::int64_t operations() const { return forward + loss + backward + update; }
};

// An operation of a step, as a calibration knows it again (kernels/operation_key.h).
struct StepOperation {
  std::string name;  // "linear_forward"
  std::string key;
  OperationWork work;
};

// The operations of a step, which is not the first, in the order in which they are enqueued. Takes
// almost no memory.
[[nodiscard]] std::vector<StepOperation> list_step(const Model& model, std::int64_t batch,
                                                   Precision precision,
                                                   const OptimizerOptions& optimizer);

// Counts the operations of a step of `batch` samples: the model, its objective and the optimizer
// enqueue the step on operations that carry nothing out. Takes almost no memory.
[[nodiscard]] StepWork count_step(const Model& model, std::int64_t batch, Precision precision,
                                  const OptimizerOptions& optimizer);

}  // namespace tandem::bench
