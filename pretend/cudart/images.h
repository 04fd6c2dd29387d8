// SPDX-License-Identifier: Apache-2.0
//
// The code of a fat binary that a GPU would run. CUDA's own libraries ask for its version, to choose
// the sizes that they compiled for it.
#pragma once

namespace tandem::pretend {

// As 10 * major + minor of the compute capability; 0 where the binary has no code for the card, and
// the card's own where the binary is not understood. `registered` is what __cudaRegisterFatBinary()
// gets.
[[nodiscard]] int image_version(const void* registered);

}  // namespace tandem::pretend
