// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tandem {

// How the host's matrix library computes in bf16 on this CPU.
enum class Bf16Support {
  kNone,      // the library has no bf16 kernels
  kEmulated,  // computed in fp32 and rounded in many instructions, as the CPU has no bf16 ones
  kNative,
};

[[nodiscard]] Bf16Support host_bf16_support();

}  // namespace tandem
