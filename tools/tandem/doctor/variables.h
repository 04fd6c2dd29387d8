// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "tools/tandem/doctor/finding.h"

namespace tandem::doctor {

using Variables = std::map<std::string, std::string>;

// Of this process.
[[nodiscard]] Variables gather_variables();

// Those that change what is measured, or what another library on this node does. Of values, only
// those of the variables that the rules name are shown: none of them holds a secret.
[[nodiscard]] Findings judge_variables(const Variables& variables);

}  // namespace tandem::doctor
