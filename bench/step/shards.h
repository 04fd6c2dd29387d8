// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "bench/step/step_options.h"
#include "common/parallel/shards.h"

namespace tandem::bench {

// The shards that the options' global batch is cut into, in order of samples: a piece for each
// device that the strategy gives one, and within a device's piece a piece for each micro-batch.
[[nodiscard]] std::vector<Piece> shards_of(const StepOptions& options);

}  // namespace tandem::bench
