// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/results/json_reading.h"
#include "common/results/json_values.h"
#include "common/results/link_matrix.h"

// Private to results.
namespace tandem::results {

[[nodiscard]] Json to_json(const LinkMatrix& matrix);
[[nodiscard]] LinkMatrix links_from(const JsonValue& json);

}  // namespace tandem::results
