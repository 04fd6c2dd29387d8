// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/parking.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>

namespace tandem::host {
namespace {

// A store of a peer on another core that is about to come is met within this many looks, about a
// microsecond; longer spinning would take the core from a worker that shares the core.
constexpr int kLooks = 20;

timespec to_timespec(TimePoint time) {
  const auto since = time.time_since_epoch();
  const auto whole = std::chrono::floor<std::chrono::seconds>(since);
  return {.tv_sec = whole.count(), .tv_nsec = Nanoseconds(since - whole).count()};
}

int operation(int base, Sharing sharing) {
  return sharing == Sharing::kThreads ? base | FUTEX_PRIVATE_FLAG : base;
}

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// True where one of a few looks finds the word changed.
bool changes_soon(const Word& word, std::uint32_t seen) {
  for (int look = 0; look < kLooks; ++look) {
    if (word.load(std::memory_order_acquire) != seen) return true;
    pause();
  }
  return false;
}

}  // namespace

bool park_while(const Word& word, std::uint32_t seen, Sharing sharing,
                std::optional<TimePoint> deadline) {
  if (changes_soon(word, seen)) return true;
  // FUTEX_WAIT_BITSET takes an absolute CLOCK_MONOTONIC time, so wake-ups do not stretch the wait.
  const timespec until = to_timespec(deadline.value_or(TimePoint{}));
  while (word.load(std::memory_order_acquire) == seen) {
    if (deadline && Clock::now() >= *deadline) return false;
    syscall(SYS_futex, &word, operation(FUTEX_WAIT_BITSET, sharing), seen,
            deadline ? &until : nullptr, nullptr, FUTEX_BITSET_MATCH_ANY);
  }
  return true;
}

void wake_all(Word& word, Sharing sharing) {
  syscall(SYS_futex, &word, operation(FUTEX_WAKE, sharing), INT_MAX, nullptr, nullptr, 0);
}

void sleep_until(TimePoint time) {
  if (time <= Clock::now()) return;
  const timespec until = to_timespec(time);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

}  // namespace tandem::host
