// SPDX-License-Identifier: Apache-2.0
//
// How much slower the same kernels run while gradients are communicated.
#pragma once

#include <string>
#include <vector>

#include "bench/job/job.h"
#include "bench/step/measurement.h"
#include "bench/step/step_options.h"
#include "common/comm/bootstrap.h"
#include "common/model/model.h"
#include "common/stats/estimate.h"

namespace tandem::bench {

// Pairs of blocks of samples, one block with communication and one without, taken in turn: on, off;
// off, on; on, off; ...
struct ContentionPlan {
  int pairs = 30;
  int samples = 3;  // samples of a block that count

  // Whether block `index` of the launch communicates.
  [[nodiscard]] static bool is_on(int index) { return index % 4 == 0 || index % 4 == 3; }
};

// Times of one phase, or of several together: seconds per step, the mean over devices and pairs.
struct PhaseContention {
  std::string phase;
  Seconds off{0};
  Seconds on{0};
  // The ratio of on to off over pairs: stats::median_of_paired_ratios of all devices' sums; 0 for
  // waiting phases, and where the phase takes no time in some block.
  stats::Estimate ratio{};
  double least = 0;  // the smallest median ratio of a device
  double most = 0;
};

struct Contention {
  ContentionPlan plan;
  int devices = 0;
  std::vector<PhaseContention> phases{};  // phases of 0.1 % of a step or more, in the step's order
  PhaseContention compute{};              // all phases but exposed_comm and idle
  PhaseContention step{};                 // all phases
};

// The contention in times whose samples are those of the plan that count, block after block.
[[nodiscard]] Contention contention_of(const std::vector<DevicePhaseTimes>& times,
                                       const ContentionPlan& plan);

// A table for people, and a sentence that sums up the table.
[[nodiscard]] std::string to_text(const Contention& contention);

// JSON for programs; times in seconds. `subject` names what was measured.
[[nodiscard]] std::string to_json(const Contention& contention,
                                  const std::map<std::string, std::string>& subject);

// Times the cell's step with all-reduces and without them, in turn: Without
// all-reduces each rank trains on its own gradients, which costs what averages would. Rank 0 prints
// the contention and writes it to the file. Collective; the job's
// communicator becomes one that can be switched, and is left on.
void measure_contention(Bootstrap& bootstrap, Job& job, const StepOptions& step, const Model& model,
                        const BlockPairOptions& options);

}  // namespace tandem::bench
