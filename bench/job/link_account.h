// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common/comm/communicator.h"
#include "common/runtime/platform.h"

namespace tandem::bench {

// How far the samples of a launch fell behind a modelled link; zero without one.
class LinkAccount {
 public:
  // Delays before construction belong to no sample.
  explicit LinkAccount(Platform& platform) : platform_(platform) { leave_out(); }

  // Delays since the last sample belong to no sample. To be called with no work queued.
  void leave_out();

  // To be called after each sample, with no work queued.
  void add_sample();

  // The mean lateness per step of the latest rank, over `steps` in all; the same on every rank.
  // Collective.
  [[nodiscard]] double mean_lateness(Communicator& ranks, double steps) const;

  // The largest oversleeping of a modelled end on any rank, in seconds. Collective.
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
