// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "common/base/clock.h"

namespace tandem::host {

// The processor time of a host stream's worker, by the worker thread's own clock, which counts
// neither waits nor the work of other threads on the core.
struct WorkAccount {
  struct Work {
    std::int64_t count = 0;
    Nanoseconds time{0};  // time in bodies; each includes a reading of the clock, some 0.2 us
  };
  std::map<std::string_view, Work> operations{};  // by name, copies and zeroing among them
  Nanoseconds worker{0};  // the worker's total: bodies, and the time between bodies

  void add(std::string_view operation, Nanoseconds time) {
    Work& work = operations[operation];
    ++work.count;
    work.time += time;
  }
};

// The calling thread's processor time so far.
[[nodiscard]] Nanoseconds thread_time();

}  // namespace tandem::host
