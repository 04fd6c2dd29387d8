// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace tandem {

// The library behind the host's matrix products and the instruction set it uses on this machine,
// for the record of a measurement: "oneDNN 2.6.3, avx512_core_bf16".
[[nodiscard]] std::string kernel_library_version();

}  // namespace tandem
