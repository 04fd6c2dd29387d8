// SPDX-License-Identifier: Apache-2.0
#include "common/comm/rendezvous.h"

#include <algorithm>
#include <utility>

#include "common/base/check.h"
#include "common/base/units.h"

namespace tandem {
namespace {

// How soon a parked rank notices an abort, or that it was not woken by one that spins.
constexpr Nanoseconds kSlice = std::chrono::milliseconds(50);

}  // namespace

Rendezvous::Rendezvous(host::Word& aborted, std::span<RendezvousState::Arrival> arrivals,
                       Meeters meeters)
    : aborted_(aborted), arrivals_(arrivals), meeters_(std::move(meeters)) {
  if (meeters_.ranks.size() <= arrivals_.size()) return;
  fail(ErrorKind::kUsage,
       "{} ranks on a node, and this version takes at most {}: use fewer devices",
       meeters_.ranks.size(), arrivals_.size());
}

void Rendezvous::check_not_aborted() const {
  if (aborted_.load(std::memory_order_acquire) == 0) return;
  fail(ErrorKind::kCommunication, "rank {}: the communicator was aborted", job_rank(meeters_.mine));
}

void Rendezvous::meet() {
  check_not_aborted();
  ++round_;
  RendezvousState::Arrival& mine = arrival(meeters_.mine);
  mine.count.store(round_, std::memory_order_release);
  if (size() > 1) host::wake_peers(mine.count, meeters_.sharing);
  const TimePoint deadline = Clock::now() + meeters_.deadline;
  for (int peer = 0; peer < size(); ++peer) {
    if (peer != meeters_.mine) wait_for(peer, deadline);
  }
}

void Rendezvous::wait_for(int peer, TimePoint deadline) {
  const host::Word& count = arrival(peer).count;
  for (;;) {
    const std::uint32_t seen = count.load(std::memory_order_acquire);
    // Counts may wrap; a peer is at most one meeting ahead, so the difference tells.
    if (static_cast<std::int32_t>(seen - round_) >= 0) return;
    check_not_aborted();
    const TimePoint now = Clock::now();
    if (now >= deadline) {
      fail(ErrorKind::kCommunication,
           "rank {} waited {} for rank {}, which is lost or late: look at its output",
           job_rank(meeters_.mine), to_string(Seconds(meeters_.deadline)), job_rank(peer));
    }
    host::await_peer(count, seen, meeters_.sharing, std::min(deadline, now + kSlice));
  }
}

void Rendezvous::meet_for(std::int64_t note) {
  arrival(meeters_.mine).note = note;
  meet();
  for (int peer = 0; peer < size(); ++peer) {
    const std::int64_t theirs = arrival(peer).note;
    if (theirs == note) continue;
    fail(ErrorKind::kCommunication,
         "rank {} and rank {} enqueued different collectives, or the same on different memory: "
         "every rank must enqueue the same ones in the same order",
         job_rank(meeters_.mine), job_rank(peer));
  }
}

void Rendezvous::set_value(double value) { arrival(meeters_.mine).value = value; }

double Rendezvous::value_of(int rank) const { return arrival(rank).value; }

void Rendezvous::bring(const RendezvousState::Brought& brought) {
  arrival(meeters_.mine).brought = brought;
}

const RendezvousState::Brought& Rendezvous::brought_by(int rank) const {
  return arrival(rank).brought;
}

void Rendezvous::decide(std::int64_t value) { arrival(meeters_.mine).decided = value; }

std::int64_t Rendezvous::decided_by(int rank) const { return arrival(rank).decided; }

void Rendezvous::abort() noexcept { aborted_.store(1, std::memory_order_release); }

}  // namespace tandem
