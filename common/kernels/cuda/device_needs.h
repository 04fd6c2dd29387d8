// SPDX-License-Identifier: Apache-2.0
//
// What operations ask of a GPU, by its compute capability (80 is 8.0). Pure functions.
#pragma once

#include <string_view>

#include "common/base/units.h"
#include "common/kernels/precision.h"

namespace tandem::cuda {

// A usage error where a GPU of that name and capability has not that precision in its arithmetic:
// tf32 and bf16 came with 8.0. Without this check tf32 would be fp32 there, and be named wrongly.
void check_precision(Precision precision, int capability, std::string_view gpu);

// What NVIDIA advises for cuBLAS (its documentation of cublasSetWorkspace): algorithms that split
// the inner dimension need it.
[[nodiscard]] Bytes workspace_size(int capability);

}  // namespace tandem::cuda
