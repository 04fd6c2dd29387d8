// SPDX-License-Identifier: Apache-2.0
#include "common/comm/rendezvous.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/comm/call_error.h"

namespace tandem {
namespace {

// The time after which a parked rank notices an abort, or a peer that spins and so did not wake
// this rank.
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
  throw aborted_by_others(job_rank(meeters_.mine));
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

// Counts may wrap. A peer is at most one meeting ahead, so the sign of the difference tells.
bool Rendezvous::is_here(std::uint32_t count) const {
  return static_cast<std::int32_t>(count - round_) >= 0;
}

void Rendezvous::wait_for(int peer, TimePoint deadline) {
  const host::Word& count = arrival(peer).count;
  for (;;) {
    const std::uint32_t seen = count.load(std::memory_order_acquire);
    if (is_here(seen)) return;
    check_not_aborted();
    const TimePoint now = Clock::now();
    if (now >= deadline) fail_to_wait();
    host::await_peer(count, seen, meeters_.sharing, std::min(deadline, now + kSlice));
  }
}

void Rendezvous::fail_to_wait() const {
  PeerFailure failure{.kind = PeerFailure::Kind::kWaited, .waited = meeters_.deadline};
  for (int peer = 0; peer < size(); ++peer) {
    if (!is_here(arrival(peer).count.load(std::memory_order_acquire)))
      failure.awaited.push_back(job_rank(peer));
  }
  if (failure.awaited.empty()) return;  // the last missing rank has just come
  const bool is_one = failure.awaited.size() == 1;
  const std::string awaited = fmt::format("{}", fmt::join(failure.awaited, ", "));
  fail(std::move(failure),
       "rank {} waited {} for rank{} {}, which {} lost or late: look at {} output",
       job_rank(meeters_.mine), to_string(Seconds(meeters_.deadline)), is_one ? "" : "s", awaited,
       is_one ? "is" : "are", is_one ? "its" : "their");
}

void Rendezvous::meet_for(std::int64_t note) {
  arrival(meeters_.mine).note = note;
  meet();
  for (int peer = 0; peer < size(); ++peer) {
    const std::int64_t theirs = arrival(peer).note;
    if (theirs == note) continue;
    fail(PeerFailure{.kind = PeerFailure::Kind::kDiverged},
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
