// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/results/json_reading.h"
#include "common/results/json_values.h"
#include "common/results/sweep_info.h"

// Private to results: sweep and context as JSON objects.
namespace tandem::results {

[[nodiscard]] Json to_json(const Context& context);
[[nodiscard]] Context context_from(const JsonValue& json);

// Without the context and the machine, which have places of their own in a document.
[[nodiscard]] Json to_json(const SweepInfo& sweep);
[[nodiscard]] SweepInfo sweep_from(const JsonValue& json);

// What was found out of the machine once for the sweep: a place of its own too.
[[nodiscard]] Json machine_to_json(const SweepInfo& sweep);
[[nodiscard]] std::optional<LinkMatrix> links_of_machine(const JsonValue& json);

}  // namespace tandem::results
