// SPDX-License-Identifier: Apache-2.0
#include "common/comm/collective_meeting.h"

#include "common/base/error.h"

namespace tandem {
namespace {

std::int64_t since_epoch(TimePoint time) { return Nanoseconds(time.time_since_epoch()).count(); }

}  // namespace

Note::Note(std::initializer_list<std::int64_t> parts) {
  for (const std::int64_t part : parts) add(part);
}

void Note::add(std::int64_t part) { hash_.add(static_cast<std::uint64_t>(part)); }

void Note::add(const std::vector<Block>& blocks) {
  for (const Block& block : blocks) {
    add(block.offset);
    add(block.count);
  }
}

void CollectiveMeeting::open(const Opening& opening, Place place, const host::ModelledTime& ready) {
  rendezvous_.bring({.allocation = place.allocation,
                     .offset_bytes = place.offset_bytes,
                     .ready = since_epoch(ready.at),
                     .lateness = ready.lateness.count()});
  rendezvous_.meet_for(opening.note);
  if (side_.link == nullptr) return;
  latest_ = ready;
  for (int rank = 0; rank < static_cast<int>(side_.devices.size()); ++rank) {
    const RendezvousState::Brought& theirs = rendezvous_.brought_by(rank);
    latest_.merge({TimePoint(Nanoseconds(theirs.ready)), Nanoseconds(theirs.lateness), ready.step});
  }
  if (side_.rank == opening.root) rendezvous_.decide(since_epoch(reserve(opening).at));
}

host::ModelledTime CollectiveMeeting::reserve(const Opening& opening) const {
  host::ModelledTime end = latest_;
  if (opening.duration == Nanoseconds{0}) return end;  // nothing is transferred
  if (opening.one_way) {
    const auto from = static_cast<std::size_t>(opening.root);
    end.at = reserve_transfer(side_.link->ports(), side_.devices[from], side_.devices[1 - from],
                              latest_.at, opening.duration);
    return end;
  }
  std::vector<DeviceId> ports = side_.devices;
  if (opening.from_host) ports.push_back({Backend::kHost, DeviceId::kHostMemory});
  end.at = reserve_collective(side_.link->ports(), ports, latest_.at, opening.duration);
  return end;
}

Place CollectiveMeeting::place_of(int rank) const {
  const RendezvousState::Brought& theirs = rendezvous_.brought_by(rank);
  return {theirs.allocation, theirs.offset_bytes};
}

void CollectiveMeeting::fail_for_freed(int rank) {
  abort();
  fail(ErrorKind::kCommunication,
       "rank {} has freed its part of memory that rank {} uses in a collective: keep it on all "
       "ranks for as long",
       rendezvous_.job_rank(side_.rank), rendezvous_.job_rank(rank));
}

host::ModelledTime CollectiveMeeting::close(const Opening& opening) {
  rendezvous_.meet();
  if (side_.link != nullptr) {
    latest_.at = TimePoint(Nanoseconds(rendezvous_.decided_by(opening.root)));
  }
  return latest_;
}

}  // namespace tandem
