// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/results/document.h"
#include "reports/ladder.h"
#include "reports/measured_ladder.h"

namespace tandem::reports {

// A cause and the time that it takes.
struct Effect {
  std::string cause;
  Figure figure;
};

// One rung of the ladder, and what it saves against the one above (which the first lacks).
struct Step {
  std::string label;
  std::string cell;  // its strategy, launch and options
  int launches = 0;
  int failed_launches = 0;
  Figure mean_step;
  Figure saves;
};

// A cause removed from the top of its family alone, and after all others of that family.
struct Range {
  std::string cause;
  Figure first;
  Figure last;
};

struct PeakMemory {
  std::string label;
  std::vector<std::int64_t> bytes;  // by device: the most over launches
};

// The gap between dp and ddp, cause by cause. Every figure is a difference or a sum of means over
// launches, positive where removing the cause saves time.
struct Explanation {
  GapQuestion question;
  std::string subject;  // the hardware
  int launches = 0;     // the fewest of a measured rung
  std::vector<Step> ladder;
  Figure gap;              // dp minus the ladder's end: the sum of the steps
  Figure stock_gap;        // dp minus ddp as torch has it
  Figure stock;            // ddp as torch has it minus the ladder's end
  Figure stock_mean_step;  // of ddp as torch has it
  std::vector<Range> ranges;
  Figure interaction;               // gap minus the causes removed first, each alone
  std::vector<Effect> replication;  // that one step by phase; they sum to it
  Figure own_cost;                  // ddp as torch has it minus independent processes
  std::vector<Effect> own_costs;    // its parts; they sum to it
  std::vector<Effect> modelled;     // effects of dispatch cost and lock: time that they add
  // Where another implementation is asked about: what its ddp, and dp, take more than Tandem's.
  std::vector<Effect> theirs;
  std::vector<std::pair<std::string, double>> dispatches;  // per step, by label
  std::vector<PeakMemory> memory;
  std::vector<std::string> notes;
};

// Pure: from the launches that fit the question, whoever measured them. `launches` is how many of
// each rung were planned.
[[nodiscard]] Explanation explain(const results::Document& document, const GapQuestion& question,
                                  int launches);

}  // namespace tandem::reports
