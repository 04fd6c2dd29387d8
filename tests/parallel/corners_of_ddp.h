// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <vector>

#include "ddp/reducer_options.h"

namespace tandem::test {

// ddp's options that lose nothing, each for itself, and views with micro-batches: these many. In
// buckets as `buckets` has them; Horovod fuses as much as one of them holds.
inline std::vector<ddp::ReducerOptions> corners_of_ddp(const ddp::ReducerOptions& buckets,
                                                       int micro_batches) {
  std::vector<ddp::ReducerOptions> all(6, buckets);
  all[1].grads = ddp::GradsMode::kViews;
  all[2].micro_batches = micro_batches;
  all[3].grads = ddp::GradsMode::kViews;
  all[3].micro_batches = 2;
  all[4].kind = ddp::ReducerKind::kHorovod;
  all[4].horovod = {.cycle = std::chrono::microseconds(50),
                    .fusion_threshold = buckets.buckets.rest};
  all[5].graph = ddp::Graph::kStatic;
  return all;
}

}  // namespace tandem::test
