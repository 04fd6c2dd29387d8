// SPDX-License-Identifier: Apache-2.0
#include "common/hardware/operation_time.h"

#include <algorithm>
#include <cmath>

namespace tandem {
namespace {

Nanoseconds rounded(double seconds) { return Nanoseconds{std::llround(seconds * 1e9)}; }

}  // namespace

Nanoseconds operation_time(const GpuDescription& gpu, double peak, const OperationWork& work) {
  const Nanoseconds computing = rounded(work.flops / (peak * gpu.product_share.value));
  return std::max(computing, memory_time(gpu, work.moved));
}

Nanoseconds memory_time(const GpuDescription& gpu, Bytes moved) {
  const double reached = gpu.memory_bandwidth.value * gpu.memory_share.value;
  return std::max(gpu.least_time.value, rounded(static_cast<double>(moved.value) / reached));
}

}  // namespace tandem
