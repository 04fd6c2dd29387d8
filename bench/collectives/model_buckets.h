// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/collectives/rank.h"
#include "ddp/bucket_plan.h"

namespace tandem::bench {

// Elements of each bucket that ddp reduces for the model `name` once the buckets are rebuilt, in
// launch order: buckets are planned in the order in which a backward of one sample makes the
// gradients, gaps included. Rank 0 runs that backward. Collective; returns the same counts on every
// rank. Throws a usage error for an unknown model and out-of-memory where the model does not fit.
[[nodiscard]] std::vector<std::int64_t> model_buckets(const Rank& rank, const std::string& name,
                                                      const ddp::BucketLimits& limits);

}  // namespace tandem::bench
