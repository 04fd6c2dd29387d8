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

// How this process waits for peers, which work on cores of their own: parked, as all other waits
// are, or spinning until the peers have come, to measure the cost of the wake-up.
enum class PeerWaits { kPark, kSpin };

// Sets how this process waits for peers for the life of this object, then restores the earlier way,
// so that no later measurement spins by mistake. Make the object while no other thread waits for a
// peer; one object at a time.
class ScopedPeerWaits {
 public:
  explicit ScopedPeerWaits(PeerWaits waits);
  ~ScopedPeerWaits();
  ScopedPeerWaits(const ScopedPeerWaits&) = delete;
  ScopedPeerWaits& operator=(const ScopedPeerWaits&) = delete;

 private:
  const PeerWaits before_;
};

[[nodiscard]] PeerWaits peer_waits();

// park_while for a word that a peer changes: waits as peer_waits() says.
bool await_peer(const Word& word, std::uint32_t seen, Sharing sharing, TimePoint deadline);

// Wakes all threads that are parked on `word`; call this function after the store.
void wake_all(Word& word, Sharing sharing);

// Wakes the threads that await a peer, without a system call where these threads spin. All ranks
// wait alike; a thread that is parked nevertheless goes on at its own deadline.
void wake_peers(Word& word, Sharing sharing);

// Sleeps to an absolute time; returns at once where this time has passed.
void sleep_until(TimePoint time);

}  // namespace tandem::host
