// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "common/base/clock.h"

namespace tandem::host {

// What the worker of a host stream did with its processor, by its thread's own clock: neither waits
// nor what other threads did on its core is in it.
struct WorkAccount {
  struct Work {
    std::int64_t count = 0;
    Nanoseconds time{0};  // in bodies; a look at the clock, some 0.2 us, is in each
  };
  std::map<std::string_view, Work> operations{};  // by name; copies and zeroing among them
  Nanoseconds worker{0};                          // of all: bodies, and what lies between them

  void add(std::string_view operation, Nanoseconds time) {
    Work& work = operations[operation];
    ++work.count;
    work.time += time;
  }
};

// Processor time of the calling thread so far.
[[nodiscard]] Nanoseconds thread_time();

}  // namespace tandem::host
