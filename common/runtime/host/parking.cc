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

// Looks between two readings of the clock, so that a spinning wait ends soon after its deadline.
constexpr int kLooksPerReading = 100;

std::atomic<PeerWaits> current_peer_waits{PeerWaits::kPark};

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

// True where one of `looks` looks finds the word changed.
bool changes_within(int looks, const Word& word, std::uint32_t seen) {
  for (int look = 0; look < looks; ++look) {
    if (word.load(std::memory_order_acquire) != seen) return true;
    pause();
  }
  return false;
}

}  // namespace

bool park_while(const Word& word, std::uint32_t seen, Sharing sharing,
                std::optional<TimePoint> deadline) {
  if (changes_within(kLooks, word, seen)) return true;
  // FUTEX_WAIT_BITSET takes an absolute CLOCK_MONOTONIC time, so wake-ups do not stretch the wait.
  const timespec until = to_timespec(deadline.value_or(TimePoint{}));
  while (word.load(std::memory_order_acquire) == seen) {
    if (deadline && Clock::now() >= *deadline) return false;
    syscall(SYS_futex, &word, operation(FUTEX_WAIT_BITSET, sharing), seen,
            deadline ? &until : nullptr, nullptr, FUTEX_BITSET_MATCH_ANY);
  }
  return true;
}

ScopedPeerWaits::ScopedPeerWaits(PeerWaits waits)
    : before_(current_peer_waits.exchange(waits, std::memory_order_relaxed)) {}

ScopedPeerWaits::~ScopedPeerWaits() {
  current_peer_waits.store(before_, std::memory_order_relaxed);
}

PeerWaits peer_waits() { return current_peer_waits.load(std::memory_order_relaxed); }

bool await_peer(const Word& word, std::uint32_t seen, Sharing sharing, TimePoint deadline) {
  if (peer_waits() == PeerWaits::kPark) return park_while(word, seen, sharing, deadline);
  while (!changes_within(kLooksPerReading, word, seen)) {
    if (Clock::now() >= deadline) return false;
  }
  return true;
}

void wake_all(Word& word, Sharing sharing) {
  syscall(SYS_futex, &word, operation(FUTEX_WAKE, sharing), INT_MAX, nullptr, nullptr, 0);
}

void wake_peers(Word& word, Sharing sharing) {
  if (peer_waits() == PeerWaits::kPark) wake_all(word, sharing);
}

void sleep_until(TimePoint time) {
  if (time <= Clock::now()) return;
  const timespec until = to_timespec(time);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

}  // namespace tandem::host
