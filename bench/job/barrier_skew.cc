// SPDX-License-Identifier: Apache-2.0
#include "bench/job/barrier_skew.h"

#include <algorithm>
#include <limits>

#include "bench/driver/sampler.h"
#include "common/stats/summary.h"

namespace tandem::bench {
namespace {

constexpr int kRounds = 51;

using Round = std::vector<Passage>;  // the passages of one barrier, by rank

// How far a rank's clock is ahead of rank 0's clock: the true offset lies within the bounds.
struct Bounds {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
};

Bounds clock_bounds(const std::vector<Round>& rounds, std::size_t rank) {
  Bounds bounds;
  for (const Round& round : rounds) {
    const Passage& first = round.front();
    bounds.low = std::max(bounds.low, round[rank].entered - first.left);
    bounds.high = std::min(bounds.high, round[rank].left - first.entered);
  }
  return bounds;
}

}  // namespace

BarrierSkew skew_of(const std::vector<Round>& rounds) {
  std::vector<double> ahead{0};
  double uncertainty = 0;
  for (std::size_t rank = 1; rank < rounds.front().size(); ++rank) {
    const Bounds bounds = clock_bounds(rounds, rank);
    ahead.push_back((bounds.low + bounds.high) / 2);
    uncertainty = std::max(uncertainty, (bounds.high - bounds.low) / 2);
  }
  std::vector<double> spreads;
  for (const Round& round : rounds) {
    std::vector<double> left;
    for (std::size_t rank = 0; rank < round.size(); ++rank) {
      left.push_back(round[rank].left - ahead[rank]);
    }
    const auto [first, last] = std::minmax_element(left.begin(), left.end());
    spreads.push_back(*last - *first);
  }
  return {Seconds(stats::median(spreads) * 1e-9), Seconds(uncertainty * 1e-9)};
}

BarrierSkew measure_barrier_skew(Communicator& ranks) {
  std::vector<Round> rounds;
  for (int i = 0; i < kRounds; ++i) {
    const double entered = nanoseconds_of(Clock::now());
    ranks.barrier();
    const double left = nanoseconds_of(Clock::now());
    const std::vector<double> all_entered = ranks.all_gather(entered);
    const std::vector<double> all_left = ranks.all_gather(left);
    Round& round = rounds.emplace_back();
    for (std::size_t rank = 0; rank < all_left.size(); ++rank) {
      round.push_back({all_entered[rank], all_left[rank]});
    }
  }
  return skew_of(rounds);
}

}  // namespace tandem::bench
