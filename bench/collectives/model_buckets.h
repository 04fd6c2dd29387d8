// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/collectives/rank.h"
#include "ddp/bucket_plan.h"

namespace tandem::bench {

// Elements of each bucket that ddp reduces of the model `name` once its buckets are rebuilt, in
// launch order: planned in the order in which a backward of one sample makes the gradients, gaps
// included. Rank 0 runs that backward. Collective: the same on every rank. Throws a usage error for
// an unknown model and out-of-memory where it does not fit.
[[nodiscard]] std::vector<std::int64_t> model_buckets(const Rank& rank, const std::string& name,
                                                      const ddp::BucketLimits& limits);

}  // namespace tandem::bench
