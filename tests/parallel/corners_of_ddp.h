// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "ddp/reducer_options.h"

namespace tandem::test {

// ddp's options that lose nothing, each for itself, and views with micro-batches: these many. In
// buckets as `buckets` has them.
inline std::vector<ddp::ReducerOptions> corners_of_ddp(const ddp::ReducerOptions& buckets,
                                                       int micro_batches) {
  std::vector<ddp::ReducerOptions> all(5, buckets);
  all[1].grads = ddp::GradsMode::kViews;
  all[2].micro_batches = micro_batches;
  all[3].grads = ddp::GradsMode::kViews;
  all[3].micro_batches = 2;
  all[4].graph = ddp::Graph::kStatic;
  return all;
}

}  // namespace tandem::test
