// SPDX-License-Identifier: Apache-2.0
//
// Launch medians of which the truth is known.
#pragma once

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

namespace tandem::stats {

class Simulated {
 public:
  explicit Simulated(unsigned long long seed) : random_(seed) {}

  // Between 0 and 1, neither of them.
  [[nodiscard]] double uniform() {
    return (static_cast<double>(random_() >> 11U) + 0.5) / 9007199254740992.0;
  }

  // Standard normal, by Box and Muller: the library's own distribution is not the same everywhere.
  [[nodiscard]] double normal() {
    const double angle = 2 * std::numbers::pi * uniform();
    return std::sqrt(-2 * std::log(uniform())) * std::cos(angle);
  }

  // Log-normal around `center`; `sigma` is the standard deviation of the logs.
  [[nodiscard]] std::vector<double> launches(int count, double sigma, double center = 0.01) {
    std::vector<double> medians;
    for (int i = 0; i < count; ++i) medians.push_back(center * std::exp(sigma * normal()));
    return medians;
  }

  // The same, and one launch in ten takes a tenth longer: something else ran beside it.
  [[nodiscard]] std::vector<double> disturbed_launches(int count, double sigma) {
    std::vector<double> medians = launches(count, sigma);
    for (double& median : medians) median *= uniform() < 0.1 ? 1.1 : 1;
    return medians;
  }

 private:
  std::mt19937_64 random_;
};

}  // namespace tandem::stats
