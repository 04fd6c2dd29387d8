// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

#include "common/results/json_values.h"
#include "common/results/launch_record.h"

// Private to results: launches in the form of Google Benchmark's `benchmarks` array.
namespace tandem::results {

// Hands over one entry after the other, in the array's order.
void for_each_benchmark_entry(const std::vector<LaunchRecord>& launches,
                              const std::function<void(const Json&)>& take);

}  // namespace tandem::results
