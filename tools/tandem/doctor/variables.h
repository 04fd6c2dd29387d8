// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "tools/tandem/doctor/finding.h"

namespace tandem::doctor {

using Variables = std::map<std::string, std::string>;

// This process's environment variables.
[[nodiscard]] Variables gather_variables();

// Findings about the variables that change a measurement, or the behaviour of another library on
// this node. Only values of variables that the rules name are shown, since no such variable holds a
// secret.
[[nodiscard]] Findings judge_variables(const Variables& variables);

}  // namespace tandem::doctor
