// SPDX-License-Identifier: Apache-2.0
//
// How long an operation takes on a described GPU, from what it computes and moves: a roofline, with
// shares of the peaks by kind and shape where the description has them. No more than a start, since
// real operations differ by library.
#pragma once

#include "common/base/units.h"
#include "common/kernels/operation_work.h"
#include "simulate/catalogue/description.h"

namespace tandem {

// The share of the speed of the largest products that products of this shape reach at this peak:
// multiprocessors without a tile of the output, or of its last wave, idle, and short sums are
// mostly loads. A sum of 32 times `half_depth` terms or more is split among multiprocessors. 1
// without shares.
[[nodiscard]] double shape_share(const GpuDescription& gpu, double peak, const ProductShape& shape);

// The time of an operation whose products run at `peak` FLOP per second at best.
[[nodiscard]] Nanoseconds operation_time(const GpuDescription& gpu, double peak,
                                         const OperationWork& work);

// The time of an operation that only moves bytes.
[[nodiscard]] Nanoseconds memory_time(const GpuDescription& gpu, Bytes moved);

}  // namespace tandem
