// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/runtime/host/parking.h"

namespace tandem {

constexpr int kMaxRanks = 64;

// The counts of arrivals in memory that all ranks of a node see, from which barriers are made.
// Plain data with zero as the initial state. A rank's count lies on a cache line of its own.
struct RendezvousState {
  // The facts that a rank brings to a collective.
  struct Brought {
    std::int64_t allocation = 0;    // allocation of the memory; 0: other ranks cannot see it
    std::int64_t offset_bytes = 0;  // offset into the rank's region
    std::int64_t ready = 0;         // start by the link model, nanoseconds of Clock
    std::int64_t lateness = 0;      // nanoseconds of lateness up to `ready`
  };
  struct alignas(64) Arrival {
    host::Word count;
    std::int64_t note;  // hash of this rank's collective, which peers compare
    double value;       // this rank's number of an all-gather
    Brought brought;
    std::int64_t decided;  // the value that this rank decided for all ranks
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
  Rendezvous(RendezvousState& state, Meeters meeters)
      : Rendezvous(state.aborted, state.arrivals, std::move(meeters)) {}

  // A rendezvous on the caller's arrivals instead of a state's.
  Rendezvous(host::Word& aborted, std::span<RendezvousState::Arrival> arrivals, Meeters meeters);

  // Returns once every rank has called meet() as many times as this rank. Writes of every rank
  // before its call are then visible to all. Throws a communication error, which names the missing
  // ranks, at the deadline, and soon after an abort; so does every later call.
  void meet();

  // As meet(), with a note that must be the same on every rank: else every rank throws a
  // communication error.
  void meet_for(std::int64_t note);

  // A rank sets its value before a meeting; others read the value after that meeting; all meet
  // again before the next value is set.
  void set_value(double value);
  [[nodiscard]] double value_of(int rank) const;

  // As set_value(), for the facts of a collective: brought before a meeting, read until the next
  // meeting.
  void bring(const RendezvousState::Brought& brought);
  [[nodiscard]] const RendezvousState::Brought& brought_by(int rank) const;

  // A value that a rank decides after a meeting is read after the next meeting.
  void decide(std::int64_t value);
  [[nodiscard]] std::int64_t decided_by(int rank) const;

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
    return arrivals_[static_cast<std::size_t>(index)];
  }

  host::Word& aborted_;
  const std::span<RendezvousState::Arrival> arrivals_;
  const Meeters meeters_;
  std::uint32_t round_ = 0;
};

}  // namespace tandem
