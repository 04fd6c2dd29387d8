// SPDX-License-Identifier: Apache-2.0
//
// Times of work that strategies add to a model's own step, at a few sizes.
#pragma once

#include <cstdint>
#include <functional>

#include "common/kernels/operations.h"
#include "common/model/model.h"
#include "common/runtime/device.h"
#include "common/runtime/platform.h"
#include "simulate/cost/calibration.h"

namespace tandem::bench {

// The seconds of one of several equal pieces of work in a row on one stream, which `enqueue(i)`
// enqueues: the median of some rows, each long beside its ends. On the host, where the calling
// thread shares the device's core, what enqueuing costs is added to the work.
[[nodiscard]] double seconds_in_row(Device& device, Stream& stream,
                                    const std::function<void(int)>& enqueue);

// The smallest and the largest tensor whose copies, sums and updates are timed, and the factor
// between two sizes. The largest is smaller where the device has no room for it.
inline constexpr Bytes kSmallestTensor = kib(1);
inline constexpr Bytes kLargestTensor = mib(128);
inline constexpr std::int64_t kTensorStep = 8;

// Copies within the device, zeroing, sums, scaling, casts and updates, by name. Successive pieces
// of work use other memory, as in a step, so that no cache holds it.
[[nodiscard]] MeasuredOperations time_sizes(Device& device, Precision precision);

// The same on the platform's first device, while all its devices do so.
[[nodiscard]] MeasuredOperations time_sizes_together(Platform& platform, Precision precision);

// The losses of a model whose outputs of several devices come together on one, by key: of a batch
// and of multiples of it, with the gradient in one operation and in two.
[[nodiscard]] MeasuredOperations time_losses(Device& device, const Objective& objective,
                                             std::int64_t batch);

}  // namespace tandem::bench
