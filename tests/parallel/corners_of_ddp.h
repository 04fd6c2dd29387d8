// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <vector>

#include "ddp/reducer_options.h"

namespace tandem::test {

// ddp's options that lose nothing, each for itself, and views with micro-batches: these many. In
// buckets as `buckets` has them; Horovod fuses as much as one of them holds.
inline std::vector<ReducerOptions> corners_of_ddp(const ReducerOptions& buckets,
                                                  int micro_batches) {
  std::vector<ReducerOptions> all(7, buckets);
  all[1].grads = GradsMode::kViews;
  all[2].micro_batches = micro_batches;
  all[3].grads = GradsMode::kViews;
  all[3].micro_batches = 2;
  all[4].join = Join::kWorld;
  all[5].kind = ReducerKind::kHorovod;
  all[5].horovod = {.cycle = std::chrono::microseconds(50), .fusion_threshold = buckets.bucket_cap};
  all[6].graph = Graph::kStatic;
  return all;
}

}  // namespace tandem::test
