// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tandem::host {

// Makes the calling thread fit to compute for a device: bound to the core, one OpenMP thread (which
// is oneDNN's thread count), denormals flushed, timers precise. Call before any library.
void prepare_worker_thread(int core);

// Makes sleeps of the calling thread to a given time overshoot less, for threads that wait for
// modelled ends.
void make_timers_precise();

}  // namespace tandem::host
