// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/results/gpu_record.h"
#include "common/results/json_values.h"

// Private to results, as json_values.h.
namespace tandem::results {

[[nodiscard]] Json to_json(const GpuRecord& gpu);
[[nodiscard]] GpuRecord gpu_from(const Json& json);
[[nodiscard]] Json to_json(const ThreadPlace& thread);
[[nodiscard]] ThreadPlace thread_from(const Json& json);

}  // namespace tandem::results
