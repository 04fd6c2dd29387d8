// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/model/parameter_layout.h"
#include "ddp/reducer_options.h"

namespace tandem::ddp {

// Segments whose gradients are reduced as one bucket, and the place of each segment in the bucket.
struct BucketPlan {
  struct Slot {
    int segment = 0;
    std::int64_t offset = 0;  // elements into the bucket, at a multiple of 256 bytes
    std::int64_t count = 0;   // elements
  };

  std::vector<Slot> slots;
  std::int64_t count = 0;  // elements of the bucket
  Bytes gradient_bytes;    // bytes of gradients, without the gaps
};

// torch's rule: segments join the open bucket in the given order; a bucket is closed once the
// bucket holds its limit or more, so a bucket overshoots by up to one tensor. The limits move from
// first to rest.
[[nodiscard]] std::vector<BucketPlan> plan_buckets(const ParameterLayout& layout,
                                                   const std::vector<int>& order,
                                                   const BucketLimits& limits);

// One bucket for all segments, before the gradients' order is known.
[[nodiscard]] std::vector<BucketPlan> plan_one_bucket(const ParameterLayout& layout);

}  // namespace tandem::ddp
