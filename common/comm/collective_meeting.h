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

// A hash of everything that the ranks must have enqueued alike.
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
  Nanoseconds duration{0};  // over the modelled link, as the root computes it
  bool from_host = false;   // the root's side is host memory: the host's port is used as well
  bool one_way = false;     // the root only sends and the other of two ranks only receives
};

// The place where the streams of all ranks meet, to check that all came for the same collective
// and, over a modelled link, to agree when the collective ends. Used by one stream's worker at a
// time.
class CollectiveMeeting {
 public:
  struct Side {  // this rank's facts; a rank is its index among the meeters
    int rank = 0;
    std::vector<DeviceId> devices{};  // devices by rank
    host::HostLink* link = nullptr;   // null without a modelled link
  };
  CollectiveMeeting(const Rendezvous& rendezvous, Side side)
      : side_(std::move(side)), rendezvous_(rendezvous) {}

  // The first meeting: throws on all ranks where the ranks' notes differ. From then until the next
  // meeting, every rank knows every rank's `place`. Over a modelled link, the root reserves the
  // ports from the time at which the last rank was ready.
  void open(const Opening& opening, Place place, const host::ModelledTime& ready);
  [[nodiscard]] Place place_of(int rank) const;

  // A meeting that ends once every rank has finished its work since the last meeting.
  void meet() { rendezvous_.meet(); }

  // The last meeting, and the modelled end: the same on all ranks.
  [[nodiscard]] host::ModelledTime close(const Opening& opening);

  // Called where this rank has freed its part of an allocation that `rank` uses in the collective:
  // throws, and makes the other ranks fail at once, which would else wait until the deadline.
  [[noreturn]] void fail_for_freed(int rank);

  void abort() noexcept { rendezvous_.abort(); }

 private:
  [[nodiscard]] host::ModelledTime reserve(const Opening& opening) const;

  const Side side_;
  Rendezvous rendezvous_;
  host::ModelledTime latest_;  // latest of all ranks' ready times, for the current collective
};

}  // namespace tandem
