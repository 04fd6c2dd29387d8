// SPDX-License-Identifier: Apache-2.0
#include "common/comm/rendezvous.h"

#include <algorithm>

#include "common/base/check.h"
#include "common/base/units.h"

namespace tandem {
namespace {

// How soon a parked rank notices an abort.
constexpr Nanoseconds kSlice = std::chrono::milliseconds(50);

RendezvousState::Arrival& arrival(RendezvousState& state, int rank) {
  return state.arrivals[static_cast<std::size_t>(rank)];
}

}  // namespace

Rendezvous::Rendezvous(RendezvousState& state, host::Sharing sharing, int rank, int size,
                       Nanoseconds deadline)
    : state_(state), sharing_(sharing), rank_(rank), size_(size), deadline_(deadline) {
  if (size <= kMaxRanks) return;
  fail(ErrorKind::kUsage,
       "{} ranks on a node, and this version takes at most {}: use fewer devices", size, kMaxRanks);
}

void Rendezvous::check_not_aborted() const {
  if (state_.aborted.load(std::memory_order_acquire) == 0) return;
  fail(ErrorKind::kCommunication, "rank {}: the communicator was aborted", rank_);
}

void Rendezvous::meet() {
  check_not_aborted();
  ++round_;
  RendezvousState::Arrival& mine = arrival(state_, rank_);
  mine.count.store(round_, std::memory_order_release);
  if (size_ > 1) host::wake_all(mine.count, sharing_);
  const TimePoint deadline = Clock::now() + deadline_;
  for (int peer = 0; peer < size_; ++peer) {
    if (peer != rank_) wait_for(peer, deadline);
  }
}

void Rendezvous::wait_for(int peer, TimePoint deadline) {
  const host::Word& count = arrival(state_, peer).count;
  for (;;) {
    const std::uint32_t seen = count.load(std::memory_order_acquire);
    // Counts may wrap; a peer is at most one meeting ahead, so the difference tells.
    if (static_cast<std::int32_t>(seen - round_) >= 0) return;
    check_not_aborted();
    const TimePoint now = Clock::now();
    if (now >= deadline) {
      fail(ErrorKind::kCommunication,
           "rank {} waited {} for rank {}, which is lost or late: look at its output", rank_,
           to_string(Seconds(deadline_)), peer);
    }
    host::park_while(count, seen, sharing_, std::min(deadline, now + kSlice));
  }
}

void Rendezvous::meet_for(std::int64_t note) {
  arrival(state_, rank_).note = note;
  meet();
  for (int peer = 0; peer < size_; ++peer) {
    const std::int64_t theirs = arrival(state_, peer).note;
    if (theirs == note) continue;
    fail(ErrorKind::kCommunication,
         "rank {} and rank {} enqueued different collectives, or the same on different memory: "
         "every rank must enqueue the same ones in the same order",
         rank_, peer);
  }
}

void Rendezvous::set_value(double value) { arrival(state_, rank_).value = value; }

double Rendezvous::value_of(int rank) const {
  return state_.arrivals[static_cast<std::size_t>(rank)].value;
}

void Rendezvous::bring(const RendezvousState::Brought& brought) {
  arrival(state_, rank_).brought = brought;
}

const RendezvousState::Brought& Rendezvous::brought_by(int rank) const {
  return arrival(state_, rank).brought;
}

void Rendezvous::decide(std::int64_t value) { arrival(state_, rank_).decided = value; }

std::int64_t Rendezvous::decided_by(int rank) const { return arrival(state_, rank).decided; }

void Rendezvous::abort() noexcept { state_.aborted.store(1, std::memory_order_release); }

}  // namespace tandem
