// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>

namespace tandem {

// CLOCK_MONOTONIC: one clock for all threads and processes of a node, so that times taken by
// different ranks of one node may be subtracted.
using Clock = std::chrono::steady_clock;
using TimePoint = Clock::time_point;
using Nanoseconds = std::chrono::nanoseconds;
using Seconds = std::chrono::duration<double>;

}  // namespace tandem
