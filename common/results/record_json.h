// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/results/json_values.h"
#include "common/results/launch_record.h"

// Private to results: the record's structs as JSON objects.
namespace tandem::results {

[[nodiscard]] Json to_json(const LaunchRecord& record);
[[nodiscard]] LaunchRecord record_from(const Json& json);

[[nodiscard]] Json to_json(const MachineFacts& machine);
[[nodiscard]] MachineFacts machine_from(const Json& json);

}  // namespace tandem::results
