// SPDX-License-Identifier: Apache-2.0
//
// The gap from dp to ddp explained, and its figures as text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/results/document.h"
#include "common/stats/estimate.h"
#include "reports/model/ladder.h"
#include "reports/model/summary.h"

namespace tandem::reports {

inline constexpr const char* kNotResolved = "not resolved";
inline constexpr const char* kProjected = "projected";

// Whether the figure's sign is known.
[[nodiscard]] bool is_resolved(const Figure& figure);

// Whether a text may say that the cause saves or costs: the figure is resolved, or it is projected
// and not 0.
[[nodiscard]] bool has_sign(const Figure& figure);

// "1.234 [1.200 .. 1.268]" in milliseconds, or "no figure".
[[nodiscard]] std::string milliseconds_text(const Figure& figure);

// "not resolved", "projected", the reason of a missing figure, or "".
[[nodiscard]] std::string remark(const Figure& figure);

// The figure in milliseconds, with its remark.
[[nodiscard]] std::string judged(const Figure& figure);

// A bar as long as the effect's share of `full` seconds: '#' saves, '-' costs, '~' is not resolved.
[[nodiscard]] std::string bar(const Figure& figure, double full);

// One end, measured on both sides.
struct Agreement {
  std::string end;         // "ddp", or "single, a share"
  stats::Estimate theirs;  // median step, seconds
  stats::Estimate ours;
  std::optional<stats::Estimate> ratio;  // of launch medians, theirs / ours
  std::string missing;                   // why there is no ratio; else empty
};

// The factor, 1 or more, within which all ends agree by the farther end of each interval; nothing
// where an end has no interval.
[[nodiscard]] std::optional<double> farthest_apart(const std::vector<Agreement>& ends);

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
  Figure saves{};
};

// The time saved where the cause is removed first of its family, and last of its family.
struct RemovalRange {
  std::string cause;
  Figure first;
  Figure last;
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
  // The ends' agreement; empty where the question names no other implementation.
  std::vector<Agreement> agreement;
  std::vector<std::pair<std::string, double>> dispatches;  // dispatches per step, by label
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
