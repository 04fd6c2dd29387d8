// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/results/json_reading.h"
#include "common/results/json_values.h"
#include "common/results/sweep_info.h"

// Private to results: sweep and context as JSON objects.
namespace tandem::results {

[[nodiscard]] Json to_json(const Context& context);
[[nodiscard]] Context context_from(const JsonValue& json);

// Without the context, which has a place of its own in a document.
[[nodiscard]] Json to_json(const SweepInfo& sweep);
[[nodiscard]] SweepInfo sweep_from(const JsonValue& json);

}  // namespace tandem::results
