// SPDX-License-Identifier: Apache-2.0
//
// What a listed kernel takes on a described GPU: matrix products by tiles, waves and depth,
// convolutions as products of their windows, and all else by the bytes that it moves.
#pragma once

#include <array>
#include <string_view>

#include "common/base/units.h"
#include "common/kernels/listed_kernel.h"
#include "simulate/catalogue/description.h"

namespace tandem {

// The constants, fitted to published steps of some fifty families of models.
struct KernelCosts {
#define COST(name, fitted, before, spread, meaning) double name = fitted;
#include "simulate/cost/kernel_costs.inc"
#undef COST
};

// A constant as a fit sees it: the value before the fit, and its spread in natural logarithms.
struct KernelCost {
  std::string_view name;
  double KernelCosts::*member;
  double before = 1;
  double spread = 1;
};

inline constexpr std::array kKernelCosts{
#define COST(name, fitted, before, spread, meaning) \
  KernelCost{#name, &KernelCosts::name, before, spread},
#include "simulate/cost/kernel_costs.inc"
#undef COST
};

// The FLOPs of one kernel, a multiply-add counted as two; 0 of kinds that only move bytes.
[[nodiscard]] double flops_of(const ListedKernel& kernel);

// The seconds of one kernel with the GPU to itself, whatever its count.
[[nodiscard]] double kernel_seconds(const GpuDescription& gpu, const ListedKernel& kernel,
                                    const KernelCosts& costs = {});

// Whether the kernel multiplies on this GPU, and not by tensor cores.
[[nodiscard]] bool is_plain_product(const GpuDescription& gpu, const ListedKernel& kernel);

[[nodiscard]] Nanoseconds kernel_time(const GpuDescription& gpu, const ListedKernel& kernel);

}  // namespace tandem
