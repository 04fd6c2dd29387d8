// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/resolving.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/base/text.h"
#include "common/options/strategies.h"
#include "reports/model/subject.h"
#include "reports/model/summary.h"
#include "reports/text/format.h"

namespace tandem::cli {
namespace {

using enum options::StrategyKind;
using reports::StrategyPair;
using reports::Summary;

int rounds_of(const StrategyPair& pair) { return std::min(pair.dp->launches, pair.ddp->launches); }

// Rounds are measured for each round that counts, where others disturb them: twice as many at most.
constexpr int kMostLaunchesOfRound = 2;

// What the journal says of the comparisons. Points into its own copy of the launches.
class State {
 public:
  explicit State(const results::JournalContents& journal)
      : document_{.sweep = journal.sweep, .launches = journal.launches},
        summary_(reports::summarize(document_)) {
    for (const StrategyPair& pair : summary_.comparisons) {
      if (!reports::on_several_devices(pair)) continue;
      ++comparisons_;
      // What fails is not tried again round by round.
      const bool fails = pair.dp->failed_launches + pair.ddp->failed_launches > 0;
      const bool is_open = pair.ddp_verdict == stats::Verdict::kNotResolved && !pair.equal_within;
      if (is_open && !fails) open_.push_back(&pair);
    }
  }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  [[nodiscard]] int comparisons() const { return comparisons_; }
  [[nodiscard]] const std::vector<const StrategyPair*>& open() const { return open_; }

  // The fewest launches that the figures of an open comparison are of.
  [[nodiscard]] int rounds() const {
    int fewest = rounds_of(*open_.front());
    for (const StrategyPair* pair : open_) fewest = std::min(fewest, rounds_of(*pair));
    return fewest;
  }

  // The round after all in which a cell of an open comparison was launched.
  [[nodiscard]] int next_round() const {
    int next = 0;
    for (const StrategyPair* pair : open_) {
      for (const reports::CellSummary* cell : {pair->dp, pair->ddp}) {
        for (const results::LaunchRecord& record : document_.launches) {
          const bool is_of_cell = record.cell.name() == cell->cell.name();
          if (is_of_cell) next = std::max(next, record.launch_index + 1);
        }
      }
    }
    return next;
  }

  // The plan's cells in open comparisons.
  [[nodiscard]] std::vector<results::Cell> open_cells(
      const std::vector<results::Cell>& planned) const {
    std::set<std::string> names;
    for (const StrategyPair* pair : open_) {
      names.insert({pair->dp->cell.name(), pair->ddp->cell.name()});
    }
    std::vector<results::Cell> cells;
    std::ranges::copy_if(planned, std::back_inserter(cells),
                         [&](const results::Cell& cell) { return names.contains(cell.name()); });
    return cells;
  }

 private:
  results::Document document_;
  Summary summary_;
  int comparisons_ = 0;
  std::vector<const StrategyPair*> open_;
};

// The rounds after which the comparison is decided, if its ratio stays and its interval narrows by
// the square root of their number: clear of 1, or within `ratio` of 1.
int rounds_needed(const StrategyPair& pair, double ratio) {
  const auto& [low, high] = *pair.ddp_speed.interval;
  const double half = std::log(high / low) / 2;
  const double apart = std::abs(std::log(pair.ddp_speed.center));
  const double room = std::max(apart, std::log1p(ratio) - apart);
  return static_cast<int>(std::ceil(rounds_of(pair) * std::pow(half / room, 2)));
}

std::string open_text(const StrategyPair& pair, const results::Resolving& looks) {
  const results::Cell& cell = pair.dp->cell;
  const std::string name =
      fmt::format("{} batch {} on {} devices", cell.model, cell.global_batch, cell.devices);
  if (!pair.ddp_speed.interval) return name;
  const int needed = rounds_needed(pair, looks.ratio);
  const std::string when = needed > looks.last_round
                               ? fmt::format("not within {} rounds", looks.last_round)
                               : fmt::format("about {} rounds", needed);
  return fmt::format("{}: ddp {} ({})", name, reports::ratio_text(pair.ddp_speed), when);
}

// "after 7 rounds 1 of 3 comparisons is open, for 2m10s at most: ..."
std::string look_text(const State& state, const results::Resolving& looks, Seconds at_most) {
  std::vector<std::string> names;
  for (const StrategyPair* pair : state.open()) names.push_back(open_text(*pair, looks));
  const auto open = std::ssize(names);
  return fmt::format("after {} {} of {} {} open, for {} at most: {}",
                     count_text(state.rounds(), "round"), open,
                     count_text(state.comparisons(), "comparison"), open == 1 ? "is" : "are",
                     short_time(at_most), reports::join(names, "; "));
}

void check_ratio(const results::Journal& journal, double ratio) {
  const auto& known = journal.contents().sweep.resolving;
  if (!known || known->ratio == ratio) return;
  fail(ErrorKind::kUsage,
       "--resolve: this folder was begun with {:g}%, here it is {:g}%; repeat the former or choose "
       "another --out",
       100 * known->ratio, 100 * ratio);
}

}  // namespace

void check_has_comparisons(const std::vector<results::Cell>& cells) {
  const bool found = std::ranges::any_of(cells, [&](const results::Cell& dp) {
    return dp.strategy == name_of(kDp) && dp.devices > 1 &&
           std::ranges::any_of(cells, [&](const results::Cell& ddp) {
             return ddp.strategy == name_of(kDdp) && ddp.model == dp.model &&
                    ddp.global_batch == dp.global_batch && ddp.devices == dp.devices;
           });
  });
  if (found) return;
  fail(ErrorKind::kUsage,
       "--resolve: the sweep has no dp and ddp at the same point on two or more devices, so there "
       "is nothing to resolve; measure both, or leave --resolve out");
}

SweepEnd resolve(const SweepPlan& plan, double ratio, const std::vector<RunSide>& sides,
                 const Interrupts& interrupts) {
  results::Journal& journal = sides.front().journal;
  check_has_comparisons(plan.cells);
  check_ratio(journal, ratio);
  SweepPlan part = plan;
  part.part = PlanPart::kPlanned;
  SweepEnd end = SweepRunner(part, sides, interrupts).run();
  const int comparisons = State(journal.contents()).comparisons();
  if (end != SweepEnd::kComplete || comparisons == 0) return end;
  if (!journal.contents().sweep.resolving) {
    journal.note_looks({.ratio = ratio,
                        .comparisons = comparisons,
                        .first_round = plan.launches,
                        .last_round = kMostRoundsOfFirst * plan.launches});
  }
  const results::Resolving looks = *journal.contents().sweep.resolving;
  part.part = PlanPart::kLastRound;
  Progress progress;
  while (end == SweepEnd::kComplete) {
    const State state(journal.contents());
    if (state.open().empty() || state.rounds() >= looks.last_round) break;
    part.cells = state.open_cells(plan.cells);
    part.launches = state.next_round() + 1;
    if (part.launches > kMostLaunchesOfRound * looks.last_round) break;
    SweepRunner runner(part, sides, interrupts);
    progress.say(look_text(state, looks, runner.ahead() * (looks.last_round - state.rounds())));
    end = runner.run();
  }
  if (end != SweepEnd::kComplete) return end;
  part = plan;
  part.part = PlanPart::kReplacements;
  return SweepRunner(part, sides, interrupts).run();
}

}  // namespace tandem::cli
