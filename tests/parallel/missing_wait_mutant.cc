// SPDX-License-Identifier: Apache-2.0
//
// A training step of dp or ddp in which one device leaves out one wait. Both ways in which
// this project makes ordering bugs show must catch it: ThreadSanitizer through the declared
// accesses (the tsan preset), and delays through wrong numbers (any preset). Run without a mutant
// it must be clean.
//
//   missing_wait_mutant STRATEGY                    clean: "same numbers", exit 0
//   missing_wait_mutant STRATEGY DEVICE NUMBER      caught: "wrong numbers", or a data race
//   reported
#include <cstdlib>
#include <iostream>
#include <string>

#include "common/base/error.h"
#include "tests/support/training.h"

namespace {

using namespace tandem;
using namespace tandem::test;

Training two_steps(const std::string& strategy) {
  Training training{.strategy = strategy, .devices = 2, .steps = 2, .training = exact_training(64)};
  training.platform.oversubscribe = true;
  return training;
}

// Delays hide a missing wait as often as they show it, where the waiting side has a longer way to
// go: the input is late to forward, behind the weights, in one run of 24.
constexpr std::uint64_t kSeedsForMutant = 300;
constexpr std::uint64_t kSeedsForNone = 20;

// In ddp, ranks that end with different bits are a logic error in themselves.
bool differs(const Model& model, const Training& run, const Outcome& expected) {
  std::optional<Outcome> outcome;
  const auto error = capture_error([&] { outcome = train(model, run); });
  if (error && error->kind() != ErrorKind::kLogic) throw Error(*error);
  return outcome != expected;
}

bool caught_by_delays(const std::string& strategy,
                      const std::optional<HostDebug::LeftOutWait>& mutant) {
  const auto model = exact_model();
  const Outcome expected = train(*model, two_steps(strategy));
  Training delayed = two_steps(strategy);
  delayed.platform.debug.left_out_wait = mutant;
  // Without delays first: ThreadSanitizer sees most where no thread waits long for another's lock.
  delayed.platform.debug.largest_delay = Nanoseconds{0};
  for (int run = 0; run < 5; ++run) {
    static_cast<void>(differs(*model, delayed, expected));
  }
  delayed.platform.debug.largest_delay = std::chrono::milliseconds(1);
  const std::uint64_t seeds = mutant ? kSeedsForMutant : kSeedsForNone;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    delayed.platform.debug.delay_seed = seed;
    if (differs(*model, delayed, expected)) return true;
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2 && argc != 4) return 2;
  std::optional<HostDebug::LeftOutWait> mutant;
  if (argc == 4) mutant = {std::atoi(argv[2]), std::atoi(argv[3])};
  std::cout << (caught_by_delays(argv[1], mutant) ? "wrong numbers" : "same numbers") << std::endl;
  return 0;
}
