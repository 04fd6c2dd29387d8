// SPDX-License-Identifier: Apache-2.0
//
// A training step of dp in which one device leaves out one wait. Both ways in which this project
// makes ordering bugs show must catch it: ThreadSanitizer through the declared accesses (the tsan
// preset), and delays through wrong numbers (any preset). Run without a mutant it must be clean.
//
//   missing_wait_mutant none               clean: "same numbers", exit 0
//   missing_wait_mutant DEVICE NUMBER      caught: "wrong numbers", or a report of a data race
#include <cstdlib>
#include <iostream>
#include <string>

#include "tests/support/training.h"

namespace {

using namespace tandem;
using namespace tandem::test;

Training two_steps() {
  Training training{.strategy = "dp", .devices = 2, .steps = 2, .training = exact_training(64)};
  training.platform.oversubscribe = true;
  return training;
}

// Delays hide a missing wait as often as they show it, where the waiting side has a longer way to
// go: the input is late to forward, behind the weights, in one run of 24.
constexpr std::uint64_t kSeedsForMutant = 300;
constexpr std::uint64_t kSeedsForNone = 20;

bool caught_by_delays(const std::optional<HostDebug::LeftOutWait>& mutant) {
  const auto model = exact_model();
  const Outcome expected = train(*model, two_steps());
  Training delayed = two_steps();
  delayed.platform.debug.left_out_wait = mutant;
  // Without delays first: ThreadSanitizer sees most where no thread waits long for another's lock.
  delayed.platform.debug.largest_delay = Nanoseconds{0};
  for (int run = 0; run < 5; ++run) static_cast<void>(train(*model, delayed));
  delayed.platform.debug.largest_delay = std::chrono::milliseconds(1);
  const std::uint64_t seeds = mutant ? kSeedsForMutant : kSeedsForNone;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    delayed.platform.debug.delay_seed = seed;
    if (train(*model, delayed) != expected) return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  std::optional<HostDebug::LeftOutWait> mutant;
  if (argc == 3) mutant = {std::atoi(argv[1]), std::atoi(argv[2])};
  std::cout << (caught_by_delays(mutant) ? "wrong numbers" : "same numbers") << std::endl;
  return 0;
}
