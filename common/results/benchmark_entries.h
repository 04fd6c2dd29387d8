// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "common/results/json_writer.h"
#include "common/results/launch_record.h"

// Private to results: launches in the form of Google Benchmark's `benchmarks` array.
namespace tandem::results {

// Writes the elements of an open list, in the order of Google Benchmark's array.
void write_benchmark_entries(JsonWriter& writer, const std::vector<LaunchRecord>& launches);

}  // namespace tandem::results
