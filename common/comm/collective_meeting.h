// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <vector>

#include "common/base/checksum.h"
#include "common/comm/allocations.h"
#include "common/comm/communicator.h"
#include "common/comm/rendezvous.h"
#include "common/runtime/host/host_link.h"

namespace tandem {

// What the ranks must have enqueued alike, as one number.
class Note {
 public:
  explicit Note(std::initializer_list<std::int64_t> parts);
  void add(std::int64_t part);
  void add(const std::vector<Block>& blocks);

  [[nodiscard]] std::int64_t value() const { return static_cast<std::int64_t>(hash_.value()); }

 private:
  Fnv1a hash_;
};

// A collective as its ranks meet for it.
struct Opening {
  std::int64_t note = 0;
  int root = 0;             // 0 where there is none
  Nanoseconds duration{0};  // over the modelled link, by the root's reckoning
  bool from_host = false;   // the root's side is host memory: the host's port is used as well
  bool one_way = false;     // of two ranks, the root only sends and the other only receives
};

// Where the streams of all ranks meet: to see that they came for the same collective, and over a
// modelled link to agree when it is over. Used by one stream's worker at a time.
class CollectiveMeeting {
 public:
  struct Side {  // of this rank; a rank is its index among those who meet
    int rank = 0;
    std::vector<DeviceId> devices{};  // of all ranks
    host::HostLink* link = nullptr;   // absent where nothing is modelled
  };
  CollectiveMeeting(const Rendezvous& rendezvous, Side side)
      : side_(std::move(side)), rendezvous_(rendezvous) {}

  // The first meeting: throws on all ranks where their notes differ. Every rank's `place` is then
  // known to all, until the next meeting. Over a link, the root reserves the ports from when the
  // last rank was ready.
  void open(const Opening& opening, Place place, const host::ModelledTime& ready);
  [[nodiscard]] Place place_of(int rank) const;

  // All have done what they did since the last meeting.
  void meet() { rendezvous_.meet(); }

  // The last meeting, and the modelled end: the same on all ranks.
  [[nodiscard]] host::ModelledTime close(const Opening& opening);

  // Where this rank has freed its part of what `rank` brought: throws, and makes the others fail
  // too, which would wait for the deadline.
  [[noreturn]] void fail_for_freed(int rank);

  void abort() noexcept { rendezvous_.abort(); }

 private:
  [[nodiscard]] host::ModelledTime reserve(const Opening& opening) const;

  const Side side_;
  Rendezvous rendezvous_;
  host::ModelledTime latest_;  // of all ranks' ready times, for the collective in hand
};

}  // namespace tandem
