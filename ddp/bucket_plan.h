// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/model/parameter_layout.h"

namespace tandem::ddp {

// Segments whose gradients are reduced as one, and where each lies in the bucket.
struct BucketPlan {
  struct Slot {
    int segment = 0;
    std::int64_t offset = 0;  // elements into the bucket, at a cache line's start
    std::int64_t count = 0;   // elements
  };

  std::vector<Slot> slots;
  std::int64_t count = 0;  // elements of the bucket
  Bytes gradient_bytes;    // without the gaps
};

struct BucketLimits {
  Bytes first;  // of the first bucket
  Bytes rest;   // of all others
};

// torch's rule: segments join the open bucket in the given order; it is closed once it holds its
// limit or more, so a bucket overshoots by up to one tensor. The limits move from first to rest.
[[nodiscard]] std::vector<BucketPlan> plan_buckets(const ParameterLayout& layout,
                                                   const std::vector<int>& order,
                                                   const BucketLimits& limits);

// Before the gradients' order is known: one bucket for all.
[[nodiscard]] std::vector<BucketPlan> plan_one_bucket(const ParameterLayout& layout);

}  // namespace tandem::ddp
