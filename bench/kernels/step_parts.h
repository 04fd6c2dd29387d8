// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/kernels/options.h"
#include "common/base/units.h"
#include "common/runtime/host/worker_thread.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

// The parts of the time of steps on a host device, in seconds by the host's clock. Processor time
// is by the threads' own clocks; the threads share the device's core.
struct StepParts {
  double whole = 0;
  double operations = 0;  // in primitives and own kernels
  double copies = 0;      // copies of the batch into the device; zeroing
  double queue = 0;       // the worker's time between operations: tasks, events, marks of phases
  double dispatch = 0;    // the time of the thread that enqueues the step and waits

  // The rest: the core woke a thread, idled, or worked for another process.
  [[nodiscard]] double waiting() const { return whole - operations - copies - queue - dispatch; }
  [[nodiscard]] double outside() const { return 1 - operations / whole; }  // a share of the whole
};

// The parts of one step that took `whole`, in which the enqueuing thread was at work for
// `dispatch`.
[[nodiscard]] StepParts parts_of(const host::WorkAccount& account, Nanoseconds whole,
                                 Nanoseconds dispatch);

// The parts in words: "1.23 % of a step lie outside operations: dispatch 0.52 %, ..."
[[nodiscard]] std::string to_text(const StepParts& parts);

// Runs the options' steps of `single` on the first device, bound as step_bench binds its threads,
// and reports a Google Benchmark entry, and a line and a table of operations for people. Throws
// usage errors, also where the device is no host device.
void run_step_parts(const KernelOptions& options, Platform& platform);

}  // namespace tandem::bench
