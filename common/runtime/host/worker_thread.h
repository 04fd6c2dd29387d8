// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tandem::host {

// Makes the calling thread fit to compute for a device: bound to the core, one OpenMP thread (that
// is oneDNN's thread count), denormals flushed, timers precise. Called before any library is.
void prepare_worker_thread(int core);

// Sleeps of the calling thread to a given time overshoot less: for threads that wait for modelled
// ends.
void make_timers_precise();

}  // namespace tandem::host
