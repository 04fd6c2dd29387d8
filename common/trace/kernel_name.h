// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tandem {

// A timeline's name for a kernel of this linker name, at most 80 characters: without return type
// and parameters and, where the name is still too long to be read, without namespaces; where that
// is not enough, without template arguments and, if need be, namespaces.
[[nodiscard]] std::string kernel_name(const std::string& linker_name);

}  // namespace tandem
