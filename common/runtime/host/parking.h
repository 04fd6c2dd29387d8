// SPDX-License-Identifier: Apache-2.0
//
// Waiting without taking the core from compute: a few looks, then the kernel. A word may lie in
// memory shared by processes; then both sides say Sharing::kProcesses.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "common/base/units.h"

namespace tandem::host {

using Word = std::atomic<std::uint32_t>;
static_assert(Word::is_always_lock_free, "words are shared between processes");

enum class Sharing { kThreads, kProcesses };

// Returns once `word` no longer holds `seen` (acquire), or at the deadline. True: the word changed.
bool park_while(const Word& word, std::uint32_t seen, Sharing sharing,
                std::optional<TimePoint> deadline = std::nullopt);

// Wakes all threads that are parked on `word`; call this function after the store.
void wake_all(Word& word, Sharing sharing);

// Sleeps to an absolute time; returns at once where this time has passed.
void sleep_until(TimePoint time);

}  // namespace tandem::host
