// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tandem {

// What a timeline calls a kernel of this linker name: without its return type and parameters, and
// where that is still too long to be read without its templates' arguments and its namespaces. At
// most 80 characters.
[[nodiscard]] std::string kernel_name(const std::string& linker_name);

}  // namespace tandem
