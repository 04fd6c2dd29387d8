// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tandem {

// What the host's matrix library makes of bf16 on this CPU.
enum class Bf16Support {
  kNone,      // it has no kernels
  kEmulated,  // it computes in fp32 and rounds in many instructions, since the CPU has none for it
  kNative,
};

[[nodiscard]] Bf16Support host_bf16_support();

}  // namespace tandem
