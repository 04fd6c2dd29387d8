// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/results/gpu_record.h"
#include "common/results/json_reading.h"
#include "common/results/json_writer.h"

// Private to results, as json_values.h.
namespace tandem::results {

void write(JsonWriter& writer, std::string_view key, const GpuRecord& gpu);
[[nodiscard]] GpuRecord gpu_from(const JsonValue& json);
void write(JsonWriter& writer, std::string_view key, const ThreadPlace& thread);
[[nodiscard]] ThreadPlace thread_from(const JsonValue& json);

}  // namespace tandem::results
