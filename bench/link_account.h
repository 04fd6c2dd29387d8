// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/comm/communicator.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

// How far the samples of a launch fell behind a modelled link; zero without one.
class LinkAccount {
 public:
  // What was before belongs to no sample.
  explicit LinkAccount(Platform& platform) : platform_(platform) { leave_out(); }

  // What was since the last sample belongs to none, with no work queued.
  void leave_out();

  // After each sample, with no work queued.
  void add_sample();

  // Collective: the same on every rank. Mean per step of the latest rank, over `steps` in all.
  [[nodiscard]] double mean_lateness(Communicator& ranks, double steps) const;

  // Collective: the largest oversleeping of a modelled end on any rank, in seconds.
  [[nodiscard]] double largest_overshoot(Communicator& ranks) const;

 private:
  Platform& platform_;
  Nanoseconds late_{0};
  Nanoseconds overshoot_{0};
};

// Fails where transfers ended more than 1 % of a step late: the modelled duration of a step is only
// right while the machine keeps up with the link.
void check_lateness(double lateness_seconds, double step_seconds);

}  // namespace tandem::bench
