// SPDX-License-Identifier: Apache-2.0
#include "common/comm/shared_memory/rendezvous.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/comm/bootstrap.h"
#include "common/comm/collective_errors.h"
#include "common/comm/node_memory.h"

namespace tandem {
namespace {

// The time after which a parked rank notices an abort.
constexpr Nanoseconds kSlice = std::chrono::milliseconds(50);

}  // namespace

Rendezvous::Rendezvous(RendezvousState& state, Meeters meeters)
    : state_(state), meeters_(std::move(meeters)) {
  if (meeters_.ranks.size() <= kMaxRanks) return;
  fail(ErrorKind::kUsage,
       "{} ranks on a node, and this version supports at most {}: use fewer devices",
       meeters_.ranks.size(), kMaxRanks);
}

void Rendezvous::check_not_aborted() const {
  if (state_.aborted.load(std::memory_order_acquire) == 0) return;
  throw aborted_by_others(job_rank(meeters_.mine));
}

void Rendezvous::meet() {
  check_not_aborted();
  ++round_;
  RendezvousState::Arrival& mine = arrival(meeters_.mine);
  mine.count.store(round_, std::memory_order_release);
  if (size() > 1) host::wake_all(mine.count, meeters_.sharing);
  const TimePoint deadline = Clock::now() + meeters_.deadline;
  for (int peer = 0; peer < size(); ++peer) {
    if (peer != meeters_.mine) wait_for(peer, deadline);
  }
}

// Counts may wrap. A peer is at most one meeting ahead, so the sign of the difference decides.
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
    host::park_while(count, seen, meeters_.sharing, std::min(deadline, now + kSlice));
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

void Rendezvous::bring(const RendezvousState::Brought& brought) {
  arrival(meeters_.mine).brought = brought;
}

const RendezvousState::Brought& Rendezvous::brought_by(int rank) const {
  return arrival(rank).brought;
}

void Rendezvous::abort() noexcept { state_.aborted.store(1, std::memory_order_release); }

std::shared_ptr<host::SharedMapping> map_control_block(Bootstrap& bootstrap) {
  return map_reserved_node_memory(bootstrap, Bytes{sizeof(ControlBlock)});
}

ControlBlock& control_block(const host::SharedMapping& mapping) {
  return *std::launder(reinterpret_cast<ControlBlock*>(mapping.data()));
}

void CollectiveMeeting::open(std::int64_t note, AllocationPlace place) {
  rendezvous_.bring({.allocation = place.allocation, .offset_bytes = place.offset_bytes});
  rendezvous_.meet_for(note);
}

AllocationPlace CollectiveMeeting::place_of(int rank) const {
  const RendezvousState::Brought& theirs = rendezvous_.brought_by(rank);
  return {theirs.allocation, theirs.offset_bytes};
}

void CollectiveMeeting::fail_for_freed(int rank) {
  abort();
  fail(ErrorKind::kCommunication,
       "rank {} has freed its part of memory that rank {} uses in a collective: keep it on all "
       "ranks for as long",
       rendezvous_.job_rank(rank_), rendezvous_.job_rank(rank));
}

}  // namespace tandem
