// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/runtime/span.h"

namespace tandem {

// The library behind the host's matrix products and the instruction set that the library uses on
// this machine, for the record of a measurement: "oneDNN 2.6.3, avx512_core_bf16".
[[nodiscard]] std::string kernel_library_version();

// The libraries of a back end; on CUDA "CUDA 13.1, cuBLASLt 13.1.0, cuDNN 9.19.0": the CUDA
// runtime, and cuDNN only where cuDNN can be loaded.
[[nodiscard]] std::string kernel_library_version(Backend backend);

}  // namespace tandem
