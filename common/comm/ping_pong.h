// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tandem {

// The one-way time in nanoseconds of a cache line between two cores: two threads, one bound to each
// core, pass a word to and fro; the median of several rounds. 0 where both are the same core. Keeps
// both cores busy for some milliseconds, so no measurement may run at the same time.
[[nodiscard]] double ping_pong_ns(int one_core, int other_core);

}  // namespace tandem
