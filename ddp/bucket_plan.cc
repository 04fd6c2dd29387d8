// SPDX-License-Identifier: Apache-2.0
#include "ddp/bucket_plan.h"

#include <limits>
#include <numeric>

namespace tandem::ddp {

std::vector<BucketPlan> plan_buckets(const ParameterLayout& layout, const std::vector<int>& order,
                                     const BucketLimits& limits) {
  std::vector<BucketPlan> plans;
  BucketPlan open;
  for (const int segment : order) {
    const auto& added = layout.segments()[static_cast<std::size_t>(segment)];
    open.slots.push_back({segment, open.count, added.count});
    open.count += aligned_count(added.count);
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
