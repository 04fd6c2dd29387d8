// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tandem::bench {

// FLOP/s of one core on large matrix products: the fastest of some runs of the library's bare
// product, on a thread bound to `core`. Takes about a third of a second.
[[nodiscard]] double measured_core_flops(int core);

}  // namespace tandem::bench
