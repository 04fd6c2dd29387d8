// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <random>

#include "tests/support/round_machine.h"

namespace tandem::test {

// Machines within the range of what there is and is to come: every figure is drawn anew, on a scale
// of ratios.
class RandomMachines {
 public:
  explicit RandomMachines(std::uint64_t seed) : random_(seed) {}

  // From `least` to `most`.
  [[nodiscard]] double between(double least, double most) {
    return least * std::pow(most / least, share());
  }
  // From 0 to 1.
  [[nodiscard]] double share() { return std::uniform_real_distribution<double>(0, 1)(random_); }
  [[nodiscard]] int count(int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random_);
  }
  // Nothing in one of four cases.
  [[nodiscard]] Nanoseconds cost(double least, double most) {
    return Nanoseconds{share() < 0.25 ? 0 : std::llround(between(least, most))};
  }

  [[nodiscard]] HardwareDescription next() {
    HardwareDescription machine = round_machine();
    machine.gpu.memory.value = gib(80);
    machine.gpu.memory_bandwidth.value = between(2e11, 1e13);
    machine.gpu.fp32.value = between(1e12, 1e15);
    machine.gpu.product_share.value = between(0.2, 1);
    machine.gpu.memory_share.value = between(0.2, 1);
    machine.gpu.least_time.value = cost(500, 5000);
    machine.gpu.contention.value = share() < 0.25 ? 0 : share() / 2;
    machine.node.host_link = link(5e9, 1e11);
    if (share() < 0.3) machine.node.peer_link.reset();
    if (machine.node.peer_link) *machine.node.peer_link = link(1e10, 1e12);
    if (share() < 0.5) {
      const LinkDescription one_way = link(4e9, 1e11);
      const double both_ways = one_way.bandwidth.value * (0.2 + 0.8 * share());
      machine.node.staged_link = StagedLinkDescription{one_way, {both_ways, "drawn"}};
    }
    machine.host.launch.value = cost(300, 20'000);
    machine.host.wake.value = cost(500, 50'000);
    machine.host.thread_start.value = cost(5'000, 100'000);
    return machine;
  }

 private:
  [[nodiscard]] LinkDescription link(double least, double most) {
    return {{between(least, most), "drawn"}, {cost(300, 20'000), "drawn"}};
  }

  std::mt19937_64 random_;
};

}  // namespace tandem::test
