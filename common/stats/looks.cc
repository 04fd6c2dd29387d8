// SPDX-License-Identifier: Apache-2.0
#include "common/stats/looks.h"

#include <cmath>
#include <cstddef>
#include <numbers>

#include "common/base/error.h"
#include "common/stats/estimate.h"

namespace tandem::stats {
namespace {

double normal_density(double z) { return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi); }

// The sum of the rounds so far, a Brownian motion whose time is the share of rounds, where no look
// has rejected: its density at evenly spaced places between the boundaries, times the weight of
// each place in Simpson's rule.
class GroupSequentialState {
 public:
  // Begins with the first look at time `time` and the boundary `bound`.
  GroupSequentialState(double time, double bound) : places_(places_within(bound)) {
    for (const double place : places_) {
      mass_.push_back(normal_density(place / std::sqrt(time)) / std::sqrt(time));
    }
    weigh(bound);
  }

  // The probability to be undecided now and beyond +-bound after another `time`.
  [[nodiscard]] double beyond(double bound, double time) const {
    const double sigma = std::sqrt(time);
    double sum = 0;
    for (std::size_t i = 0; i < kPlaces; ++i) {
      sum += mass_[i] *
             (normal_cdf((-bound - places_[i]) / sigma) + normal_cdf((places_[i] - bound) / sigma));
    }
    return sum;
  }

  // Goes on by `time` to a look with the boundary `bound`.
  void look(double bound, double time) {
    const double sigma = std::sqrt(time);
    const std::vector<double> next = places_within(bound);
    std::vector<double> density(kPlaces, 0);
    for (std::size_t to = 0; to < kPlaces; ++to) {
      for (std::size_t from = 0; from < kPlaces; ++from) {
        density[to] += mass_[from] * normal_density((next[to] - places_[from]) / sigma) / sigma;
      }
    }
    places_ = next;
    mass_ = density;
    weigh(bound);
  }

 private:
  static constexpr std::size_t kPlaces = 257;

  static std::vector<double> places_within(double bound) {
    std::vector<double> places;
    for (std::size_t i = 0; i < kPlaces; ++i) {
      places.push_back(bound * (2.0 * static_cast<double>(i) / (kPlaces - 1) - 1));
    }
    return places;
  }

  void weigh(double bound) {
    const double third = 2 * bound / (kPlaces - 1) / 3;
    for (std::size_t i = 0; i < kPlaces; ++i) {
      const bool is_end = i == 0 || i == kPlaces - 1;
      mass_[i] *= third * (is_end ? 1 : i % 2 == 1 ? 4 : 2);
    }
  }

  std::vector<double> places_;
  std::vector<double> mass_;
};

// The boundary that is passed with the probability `spent` after another `time`, by bisection.
double boundary(const GroupSequentialState& state, double spent, double time) {
  double low = 0;
  double high = 20;
  for (int halving = 0; halving < 60; ++halving) {
    const double middle = (low + high) / 2;
    (state.beyond(middle, time) > spent ? low : high) = middle;
  }
  return high;
}

}  // namespace

std::vector<double> levels_of_looks(const Looks& looks) {
  TANDEM_CHECK(1 <= looks.first && looks.first <= looks.last && 0 < looks.level && looks.level < 1,
               "looks after rounds {} to {} at {}", looks.first, looks.last, looks.level);
  const double step = 1.0 / looks.last;  // the time of a round, and its share of the level
  std::vector<double> levels{looks.level * looks.first * step};
  const double time = looks.first * step;
  GroupSequentialState state(time, std::sqrt(time) * normal_quantile(1 - levels.front() / 2));
  for (int round = looks.first + 1; round <= looks.last; ++round) {
    const double bound = boundary(state, looks.level * step, step);
    levels.push_back(2 * normal_cdf(-bound / std::sqrt(round * step)));
    if (round < looks.last) state.look(bound, step);
  }
  return levels;
}

}  // namespace tandem::stats
