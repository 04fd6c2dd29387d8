// SPDX-License-Identifier: Apache-2.0
//
// Waiting without taking the core from compute: a few looks, then the kernel. A word may lie in
// memory shared by processes; then both sides say Sharing::kProcesses.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "common/base/clock.h"

namespace tandem::host {

using Word = std::atomic<std::uint32_t>;
static_assert(Word::is_always_lock_free, "words are shared between processes");

enum class Sharing { kThreads, kProcesses };

// Returns once `word` no longer holds `seen` (acquire), or at the deadline. True: it changed.
bool park_while(const Word& word, std::uint32_t seen, Sharing sharing,
                std::optional<TimePoint> deadline = std::nullopt);

// How this process waits for peers, which work on cores of their own: parked, as everything waits,
// or looking until they have come, for who asks what the wake-up costs.
enum class PeerWaits { kPark, kSpin };

// Sets it for the life of this object, then restores what was before, so that nothing that is
// measured later spins by mistake. Make it while no other thread waits for a peer; one at a time.
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

// Wakes all who are parked on `word`; call it after the store.
void wake_all(Word& word, Sharing sharing);

// The same for those who await a peer: without a system call where they look until it has come.
// All ranks wait alike; one that was parked nevertheless would go on at its own deadline.
void wake_peers(Word& word, Sharing sharing);

// Sleeps to an absolute time; returns at once where it has passed.
void sleep_until(TimePoint time);

}  // namespace tandem::host
