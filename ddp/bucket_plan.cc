// SPDX-License-Identifier: Apache-2.0
#include "ddp/bucket_plan.h"

#include <limits>
#include <numeric>

#include "common/base/rounding.h"

namespace tandem::ddp {

namespace {

// Floats in 256 bytes, the largest alignment that cuBLASLt's choice of an algorithm depends on: the
// choices of the first step hold when gradients move to other buckets. A choice made in a later
// step might load a kernel behind a collective.
constexpr std::int64_t kSlotAlignment = 64;

}  // namespace

std::vector<BucketPlan> plan_buckets(const ParameterLayout& layout, const std::vector<int>& order,
                                     const BucketLimits& limits) {
  std::vector<BucketPlan> plans;
  BucketPlan open;
  for (const int segment : order) {
    const auto& added = layout.segments()[static_cast<std::size_t>(segment)];
    open.slots.push_back({segment, open.count, added.count});
    open.count += round_up(added.count, kSlotAlignment);
    open.gradient_bytes += added.size_bytes();
    if (open.gradient_bytes >= (plans.empty() ? limits.first : limits.rest)) {
      plans.push_back(std::exchange(open, {}));
    }
  }
  if (!open.slots.empty()) plans.push_back(std::move(open));
  return plans;
}

std::vector<BucketPlan> plan_one_bucket(const ParameterLayout& layout) {
  std::vector<int> order(layout.segments().size());
  std::iota(order.begin(), order.end(), 0);
  constexpr Bytes kNoLimit{std::numeric_limits<std::int64_t>::max()};
  return plan_buckets(layout, order, {kNoLimit, kNoLimit});
}

}  // namespace tandem::ddp
