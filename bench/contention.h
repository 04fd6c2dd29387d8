// SPDX-License-Identifier: Apache-2.0
//
// How much slower the same kernels run while gradients are communicated.
#pragma once

#include <string>
#include <vector>

#include "bench/measurement.h"
#include "common/stats/estimate.h"

namespace tandem::bench {

// Pairs of blocks of samples, one with communication and one without, taken in turn: on, off; off,
// on; on, off; ...
struct ContentionPlan {
  int pairs = 30;
  int samples = 3;  // of a block, that count

  // Whether block `index` of the launch communicates.
  [[nodiscard]] static bool is_on(int index) { return index % 4 == 0 || index % 4 == 3; }
};

// Of one phase, or of several together; times per step, the mean of devices and pairs.
struct PhaseContention {
  std::string phase;
  Seconds off{0};
  Seconds on{0};
  // Of on to off, by pairs: stats::median_of_paired_ratios of all devices' sums; 0 of waiting, and
  // where the phase takes no time in some block.
  stats::Estimate ratio{};
  double least = 0;  // of a device, its median ratio
  double most = 0;
};

struct Contention {
  ContentionPlan plan;
  int devices = 0;
  std::vector<PhaseContention> phases{};  // those of 0.1 % of a step or more, in the step's order
  PhaseContention compute{};              // all but exposed_comm and idle
  PhaseContention step{};                 // all
};

// Of books whose samples are those that count, block after block.
[[nodiscard]] Contention contention_of(const std::vector<DeviceBooks>& books,
                                       const ContentionPlan& plan);

// For people: a table, and what it says in a sentence.
[[nodiscard]] std::string to_text(const Contention& contention);

// For programs; times in seconds. `subject` says what was measured, by name.
[[nodiscard]] std::string to_json(const Contention& contention,
                                  const std::map<std::string, std::string>& subject);

}  // namespace tandem::bench
