// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/results/json_reading.h"
#include "common/results/json_values.h"
#include "common/results/sweep_info.h"

// Private to results: sweep and context as JSON objects.
namespace tandem::results {

[[nodiscard]] Json to_json(const Context& context);
[[nodiscard]] Context context_from(const JsonValue& json);

// The sweep without its context and its machine, which have their own places in a document.
[[nodiscard]] Json to_json(const SweepInfo& sweep);
[[nodiscard]] SweepInfo sweep_from(const JsonValue& json);

// The facts of the machine that were measured once for the sweep, which have their own place as
// well.
[[nodiscard]] Json machine_to_json(const SweepInfo& sweep);
[[nodiscard]] std::optional<LinkMatrix> links_of_machine(const JsonValue& json);

}  // namespace tandem::results
