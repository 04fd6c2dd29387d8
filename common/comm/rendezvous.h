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

// Counts of arrivals in memory that all ranks of a node see: what barriers are made of. Plain data,
// zero is the initial state. A rank's count lies on a cache line of its own.
struct RendezvousState {
  // What a rank brings to a collective.
  struct Brought {
    std::int64_t allocation = 0;    // of its memory; 0: none that others see
    std::int64_t offset_bytes = 0;  // into that
    std::int64_t ready = 0;         // when it could start by the model, nanoseconds of Clock
    std::int64_t lateness = 0;      // nanoseconds on the way there
  };
  struct alignas(64) Arrival {
    host::Word count;
    std::int64_t note;  // what this rank came for, to be compared
    double value;       // what it brings to an all-gather
    Brought brought;
    std::int64_t decided;  // what it settled for all
  };
  static_assert(sizeof(Arrival) == 64);
  alignas(64) host::Word aborted;
  std::array<Arrival, kMaxRanks> arrivals;
};

// Who meets, and for how long they wait.
struct Meeters {
  host::Sharing sharing = host::Sharing::kThreads;
  std::vector<int> ranks{};  // in the job, for messages; each has the arrival at its index
  int mine = 0;              // index of this rank
  Nanoseconds deadline{0};
};

// One rank's side of a rendezvous. Used by one thread at a time; two threads of a rank that both
// meet others (host and stream) use two of them, on two states. Below, a rank is its index among
// the meeters.
class Rendezvous {
 public:
  // A usage error where there are more meeters than arrivals.
  Rendezvous(RendezvousState& state, Meeters meeters)
      : Rendezvous(state.aborted, state.arrivals, std::move(meeters)) {}

  // On arrivals of their own.
  Rendezvous(host::Word& aborted, std::span<RendezvousState::Arrival> arrivals, Meeters meeters);

  // Returns once every rank has called it this many times. What was written before by any rank is
  // then visible to all. Throws a communication error at the deadline, naming who is missing, and
  // soon after an abort: those who wait, and all who come later.
  void meet();

  // As meet(), with a note that must be the same on every rank: else a communication error, on all.
  void meet_for(std::int64_t note);

  // Values cross in a meeting: set before, read after, and meet again before the next set.
  void set_value(double value);
  [[nodiscard]] double value_of(int rank) const;

  // The same for what collectives need: brought before a meeting, read until the next one.
  void bring(const RendezvousState::Brought& brought);
  [[nodiscard]] const RendezvousState::Brought& brought_by(int rank) const;

  // What a rank settled after a meeting is read after the next one.
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
  void fail_to_wait() const;  // names all who are missing; returns where nobody is any more

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
