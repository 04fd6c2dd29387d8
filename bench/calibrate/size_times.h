// SPDX-License-Identifier: Apache-2.0
//
// Times of work that strategies add to a model's own step, at a few sizes.
#pragma once

#include <cstdint>
#include <functional>
#include <type_traits>
#include <vector>

#include "common/comm/thread_bootstrap.h"
#include "common/kernels/operations.h"
#include "common/model/model.h"
#include "common/runtime/device.h"
#include "common/runtime/platform.h"
#include "simulate/cost/calibration.h"

namespace tandem::bench {

// The results of `measure(Bootstrap&, Device&)` on each of the platform's devices, by device, all
// at once: each device is a rank, and each rank a thread that is bound to the device. Throws what
// the rank that failed first threw.
template <class Measure>
[[nodiscard]] auto on_each_device(Platform& platform, const Measure& measure) {
  using Measured = std::invoke_result_t<const Measure&, Bootstrap&, Device&>;
  std::vector<Measured> all(static_cast<std::size_t>(platform.device_count()));
  run_ranks_as_threads(platform.device_count(), [&](Bootstrap& ranks) {
    Device& device = platform.device(ranks.rank());
    device.bind_this_thread();
    all[static_cast<std::size_t>(ranks.rank())] = measure(ranks, device);
  });
  return all;
}

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

// The losses of a model, by key: of a batch and of multiples of it, with the gradient in one
// operation and in two; on fp32, as where outputs of several devices come together on one, and in
// the type that the precision is stored in, with the casts between the two.
[[nodiscard]] MeasuredOperations time_losses(Device& device, const Model& model, std::int64_t batch,
                                             Precision precision);

}  // namespace tandem::bench
