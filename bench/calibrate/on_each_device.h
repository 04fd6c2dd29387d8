// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <vector>

#include "common/comm/thread_bootstrap.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

// What `measure(Bootstrap&, Device&)` returns on each of the platform's devices, by device, all at
// once: each device is a rank, and each rank a thread that is bound to the device. Throws what the
// rank that failed first threw.
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

}  // namespace tandem::bench
