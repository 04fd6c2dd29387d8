// SPDX-License-Identifier: Apache-2.0
//
// The kernels that PyTorch 2.11 launches for each operation of a built-in step, as a list of a
// module has them (docs/workload-files.md, Kernel): what Tandem fuses is several kernels, and
// autocast's casts of parameters and gradients are among them.
#pragma once

#include <vector>

#include "common/kernels/listed_kernel.h"
#include "common/kernels/operations.h"

namespace tandem {

// The types in which fp32 operands are multiplied, and how images lie.
struct TorchTypes {
  NumberType products = NumberType::kFp32;
  NumberType convolutions = NumberType::kFp32;
  KernelLayout images = KernelLayout::kLast;
};

#define TANDEM_TORCH_KERNELS(Op, name) \
  [[nodiscard]] std::vector<ListedKernel> torch_kernels(const Op& op, const TorchTypes& types);
TANDEM_EACH_OPERATION(TANDEM_TORCH_KERNELS)
#undef TANDEM_TORCH_KERNELS

}  // namespace tandem
