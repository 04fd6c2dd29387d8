// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/kernels/operations.h"
#include "common/runtime/span.h"

namespace tandem {

// Throws a usage error, with the way out, where this host's kernels lack the precision.
void check_host_has(Precision precision);

// How the host's matrix library computes in bf16 on this CPU.
enum class Bf16Support {
  kNone,      // the library has no bf16 kernels
  kEmulated,  // computed in fp32 and rounded in many instructions, as the CPU has no bf16 ones
  kNative,
};

[[nodiscard]] Bf16Support host_bf16_support();

// The library behind the host's matrix products and the instruction set that the library uses on
// this machine, for the record of a measurement: "oneDNN 2.6.3, avx512_core_bf16".
[[nodiscard]] std::string kernel_library_version();

// The libraries of a back end; on CUDA "CUDA 13.1, cuBLASLt 13.1.0, cuDNN 9.19.0": the CUDA
// runtime, and cuDNN only where cuDNN can be loaded.
[[nodiscard]] std::string kernel_library_version(Backend backend);

}  // namespace tandem
