// SPDX-License-Identifier: Apache-2.0
#include "bench/job/link_account.h"

#include <algorithm>
#include <vector>

#include "common/base/error.h"
#include "common/base/units.h"

namespace tandem::bench {

namespace {

constexpr double kMostLateness = 0.01;

double largest(Communicator& ranks, double mine) {
  const std::vector<double> all = ranks.all_gather(mine);
  return *std::max_element(all.begin(), all.end());
}

}  // namespace

void LinkAccount::leave_out() { static_cast<void>(platform_.take_lateness()); }

void LinkAccount::add_sample() {
  const Lateness lateness = platform_.take_lateness();
  late_ += lateness.on_path;
  overshoot_ = std::max(overshoot_, lateness.largest_overshoot);
}

double LinkAccount::mean_lateness(Communicator& ranks, double steps) const {
  return largest(ranks, Seconds(late_).count() / steps);
}

double LinkAccount::largest_overshoot(Communicator& ranks) const {
  return largest(ranks, Seconds(overshoot_).count());
}

void check_lateness(double lateness_seconds, double step_seconds) {
  if (lateness_seconds <= kMostLateness * step_seconds) return;
  fail(ErrorKind::kFailure,
       "the link is faster than this machine could follow: modelled transfers ended {} late in a "
       "step of {} ({:.1f} %, and more than 1 % is no model of that link any more): run it again "
       "while nothing else runs, or use a slower --link or a larger model",
       tandem::to_string(Seconds(lateness_seconds)), tandem::to_string(Seconds(step_seconds)),
       100 * lateness_seconds / step_seconds);
}

}  // namespace tandem::bench
