// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/results/json_values.h"
#include "common/results/launch_record.h"

// Private to results: launches in the form of Google Benchmark's `benchmarks` array.
namespace tandem::results {

[[nodiscard]] Json benchmark_entries(const std::vector<LaunchRecord>& launches);

}  // namespace tandem::results
