// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "common/base/units.h"
#include "common/comm/bootstrap.h"
#include "common/comm/communicator.h"
#include "common/comm/shared_memory/allocations.h"
#include "common/runtime/host/host_memory.h"
#include "common/runtime/host/parking.h"
#include "common/runtime/span.h"

namespace tandem {

constexpr int kMaxRanks = 64;

// The counts of arrivals in memory that all ranks of a node see, from which barriers are made.
// Plain data with zero as the initial state. A rank's count lies on a cache line of its own.
struct RendezvousState {
  // The facts that a rank brings to a collective.
  struct Brought {
    std::int64_t allocation = 0;    // allocation of the memory; 0: other ranks cannot see it
    std::int64_t offset_bytes = 0;  // offset into the rank's region
  };
  struct alignas(64) Arrival {
    host::Word count;
    std::int64_t note;  // hash of this rank's collective, which peers compare
    Brought brought;
  };
  static_assert(sizeof(Arrival) == 64);
  alignas(64) host::Word aborted;
  std::array<Arrival, kMaxRanks> arrivals;
};

// The ranks that meet, and how long each waits for the others.
struct Meeters {
  host::Sharing sharing = host::Sharing::kThreads;
  std::vector<int> ranks{};  // job ranks, for messages; each has the arrival at its index
  int mine = 0;              // index of this rank
  Nanoseconds deadline{0};
};

// One rank's side of a rendezvous. Used by one thread at a time: a rank whose host thread and
// stream worker both meet other ranks has two rendezvous, on two states. Below, a rank is its index
// among the meeters.
class Rendezvous {
 public:
  // Throws a usage error where there are more meeters than arrivals.
  Rendezvous(RendezvousState& state, Meeters meeters);

  // Returns once every rank has called meet() as many times as this rank. Writes of every rank
  // before its call are then visible to all. Throws a communication error, which names the missing
  // ranks, at the deadline, and soon after an abort; so does every later call.
  void meet();

  // As meet(), with a note that must be the same on every rank: else every rank throws a
  // communication error.
  void meet_for(std::int64_t note);

  // A rank brings its facts of a collective before a meeting; others read the facts after that
  // meeting and before the next.
  void bring(const RendezvousState::Brought& brought);
  [[nodiscard]] const RendezvousState::Brought& brought_by(int rank) const;

  void abort() noexcept;

  // The job's number of a meeter, for messages.
  [[nodiscard]] int job_rank(int index) const {
    return meeters_.ranks[static_cast<std::size_t>(index)];
  }

 private:
  void check_not_aborted() const;
  void wait_for(int peer, TimePoint deadline);
  [[nodiscard]] bool is_here(std::uint32_t count) const;
  void fail_to_wait() const;  // names all missing ranks; returns where none is missing any more

  [[nodiscard]] int size() const { return static_cast<int>(meeters_.ranks.size()); }
  [[nodiscard]] RendezvousState::Arrival& arrival(int index) const {
    return state_.arrivals[static_cast<std::size_t>(index)];
  }

  RendezvousState& state_;
  const Meeters meeters_;
  std::uint32_t round_ = 0;
};

// The state that the ranks of a shared-memory communicator share beside their buffers.
struct ControlBlock {
  RendezvousState host;    // callers' threads meet here
  RendezvousState stream;  // collectives meet here
};

// A mapping that holds a control block in its initial state, on rank 0's node. Collective.
[[nodiscard]] std::shared_ptr<host::SharedMapping> map_control_block(Bootstrap& bootstrap);
[[nodiscard]] ControlBlock& control_block(const host::SharedMapping& mapping);

// The place where the streams of all ranks meet, to check that all came for the same collective.
// Used by one stream's worker at a time.
class CollectiveMeeting {
 public:
  // `rank` is this rank's index among the meeters.
  CollectiveMeeting(const Rendezvous& rendezvous, int rank)
      : rank_(rank), rendezvous_(rendezvous) {}

  // The first meeting: throws on all ranks where the ranks' notes of the collective differ. From
  // then until the next meeting, every rank knows every rank's `place`.
  void open(std::int64_t note, AllocationPlace place);
  [[nodiscard]] AllocationPlace place_of(int rank) const;

  // A meeting that ends once every rank has finished its work since the last meeting. The last one
  // of a collective ends it.
  void meet() { rendezvous_.meet(); }

  // Called where this rank has freed its part of an allocation that `rank` uses in the collective:
  // throws, and makes the other ranks fail at once, which would else wait until the deadline.
  [[noreturn]] void fail_for_freed(int rank);

  void abort() noexcept { rendezvous_.abort(); }

 private:
  const int rank_;
  Rendezvous rendezvous_;
};

}  // namespace tandem
