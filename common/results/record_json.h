// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/results/json_reading.h"
#include "common/results/json_writer.h"
#include "common/results/launch_record.h"

// Private to results: the record's structs as JSON objects.
namespace tandem::results {

void write(JsonWriter& writer, std::string_view key, const LaunchRecord& record);
[[nodiscard]] LaunchRecord record_from(const JsonValue& json);

}  // namespace tandem::results
