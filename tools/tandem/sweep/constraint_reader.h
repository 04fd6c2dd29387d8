// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "tools/tandem/sweep/constraint.h"
#include "tools/tandem/sweep/sweep_reader.h"

// Private to the readers of sweep files.
namespace tandem::cli {

// Reads key 'constraints': a list of {"drop": {KEY: VALUE, ...}, "reason": TEXT}, where a VALUE is
// one value, a list of values, or {"above": NUMBER, "below": NUMBER}.
[[nodiscard]] std::vector<Constraint> read_constraints(const SweepReader& sweep);

// The JSON that read_constraints() reads.
[[nodiscard]] SweepJson to_json(const std::vector<Constraint>& constraints);

}  // namespace tandem::cli
