// SPDX-License-Identifier: Apache-2.0
//
// How long an operation takes on a described GPU, from what it computes and moves (a roofline): no
// more than a start, since real operations differ by shape and library.
#pragma once

#include "common/base/units.h"
#include "common/hardware/description.h"

namespace tandem {

// The work of an operation: FLOPs of matrix products, and the bytes of its operands.
struct OperationWork {
  double flops = 0;
  Bytes moved;
};

// The time of an operation whose products run at `peak` FLOP per second at best.
[[nodiscard]] Nanoseconds operation_time(const GpuDescription& gpu, double peak,
                                         const OperationWork& work);

// The time of an operation that only moves bytes.
[[nodiscard]] Nanoseconds memory_time(const GpuDescription& gpu, Bytes moved);

}  // namespace tandem
