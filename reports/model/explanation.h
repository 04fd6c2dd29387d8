// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/results/document.h"
#include "reports/model/agreement.h"
#include "reports/model/ladder.h"
#include "reports/model/summary.h"

namespace tandem::reports {

// A cause and the time that the cause takes.
struct Effect {
  std::string cause;
  Figure figure;
};

// One rung of the ladder, and the time saved against the rung above; the first rung has no rung
// above.
struct Step {
  std::string label;
  std::string cell;  // strategy, launch and options of the rung's cell
  int launches = 0;
  int failed_launches = 0;
  int disturbed_launches = 0;  // of `launches`
  Figure mean_step;
  Figure saves;
};

// The time saved where the cause is removed first of its family, and last of its family.
struct RemovalRange {
  std::string cause;
  Figure first;
  Figure last;
};

struct PeakMemory {
  std::string label;
  std::vector<std::int64_t> bytes;  // by device, the most over launches
};

// The gap between dp and ddp, cause by cause. Every figure is a difference or a sum of means over
// launches, positive where removing the cause saves time.
struct Explanation {
  GapQuestion question;
  std::string subject;  // the hardware
  int launches = 0;     // the fewest launches of a measured rung
  std::vector<Step> ladder;
  Figure gap;              // dp minus the ladder's end: the sum of the steps
  Figure stock_gap;        // dp minus ddp as torch has it
  Figure stock;            // ddp as torch has it minus the ladder's end
  Figure stock_mean_step;  // mean step of ddp as torch has it
  std::vector<RemovalRange> ranges;
  Figure interaction;               // gap minus the causes removed first, each alone
  std::vector<Effect> replication;  // by phase; sums to the all-reduce's step
  Figure own_cost;                  // ddp as torch has it minus independent processes
  std::vector<Effect> own_costs;    // parts of own_cost, which sum to own_cost
  std::vector<Effect> modelled;     // time that dispatch cost and interpreter lock add
  // How much longer another implementation's ddp and dp take than Tandem's; empty where the
  // question names no other implementation.
  std::vector<Effect> theirs;
  std::vector<Agreement> agreement;  // of the ends; empty where the question is about no module
  std::vector<std::pair<std::string, double>> dispatches;  // dispatches per step, by label
  std::vector<PeakMemory> memory;
  std::vector<std::string> notes;
};

// Explains the gap from the launches that fit the question, in whatever sweep they were measured.
// `launches` is the planned number of launches per rung. Pure.
[[nodiscard]] Explanation explain(const results::Document& document, const GapQuestion& question,
                                  int launches);

// The gap at each compared point where every rung of the ladder was measured: at most four points,
// on the most devices. `tandem explain` measures missing rungs.
[[nodiscard]] std::vector<Explanation> explained_points(const results::Document& document,
                                                        const Summary& summary);

}  // namespace tandem::reports
