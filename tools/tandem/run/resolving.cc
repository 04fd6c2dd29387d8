// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/resolving.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/noncopyable.hpp>
#include <iterator>
#include <map>
#include <utility>

#include "common/base/error.h"
#include "common/base/text.h"
#include "common/options/strategies.h"
#include "reports/model/summary.h"
#include "reports/text/format.h"

namespace tandem::cli {
namespace {

using enum options::StrategyKind;
using reports::StrategyPair;
using reports::Summary;
using results::LaunchRecord;
using results::Status;

std::vector<results::Cell> with_names(const std::vector<results::Cell>& cells,
                                      const std::set<std::string>& names, bool are_in) {
  std::vector<results::Cell> found;
  std::ranges::copy_if(cells, std::back_inserter(found), [&](const results::Cell& cell) {
    return names.contains(cell.name()) == are_in;
  });
  return found;
}

void add_names(std::set<std::string>& names, const StrategyPair& pair) {
  names.insert({pair.dp->cell.name(), pair.ddp->cell.name()});
}

// The journal's state of the comparisons. Holds its own copy of the launches.
class State : boost::noncopyable {
 public:
  // `lost` are cells that do not go on, since a launch of theirs failed in this run.
  State(const results::JournalContents& journal, const results::Resolving& looks,
        const std::set<std::string>& lost)
      : document_(document_of(journal)), summary_(reports::summarize(document_)) {
    for (const LaunchRecord& record : document_.launches) {
      if (record.status == Status::kSkipped) skipped_.insert(record.cell.name());
    }
    for (const StrategyPair& pair : summary_.comparisons) {
      if (!reports::on_several_devices(pair)) continue;
      if (!reports::is_open(pair) || rounds_of(pair) >= looks.last_round) continue;
      if (!ends(pair.dp->cell, lost) && !ends(pair.ddp->cell, lost)) open_.push_back(&pair);
    }
  }

  [[nodiscard]] const std::vector<const StrategyPair*>& open() const { return open_; }

  [[nodiscard]] std::set<std::string> open_names() const {
    std::set<std::string> names;
    for (const StrategyPair* pair : open_) add_names(names, *pair);
    return names;
  }

  // The fewest rounds of an open comparison.
  [[nodiscard]] int rounds() const {
    int fewest = rounds_of(*open_.front());
    for (const StrategyPair* pair : open_) fewest = std::min(fewest, rounds_of(*pair));
    return fewest;
  }

  // The first round that some cell of an open comparison has not measured.
  [[nodiscard]] int next_round() const {
    std::map<std::string, std::set<int>> measured;
    for (const LaunchRecord& record : document_.launches) {
      if (record.status == Status::kOk) measured[record.cell.name()].insert(record.launch_index);
    }
    int first = -1;
    for (const std::string& name : open_names()) {
      int round = 0;
      while (measured[name].contains(round)) ++round;
      first = first < 0 ? round : std::min(first, round);
    }
    return first;
  }

  static int rounds_of(const StrategyPair& pair) {
    return std::min(pair.dp->all_measured(), pair.ddp->all_measured());
  }

 private:
  [[nodiscard]] bool ends(const results::Cell& cell, const std::set<std::string>& lost) const {
    return skipped_.contains(cell.name()) || lost.contains(cell.name());
  }

  results::Document document_;
  Summary summary_;
  std::set<std::string> skipped_;
  std::vector<const StrategyPair*> open_;
};

// "open: mlp-small 512 (1 of 3 comparisons, 2m10s at most)", and shorter.
std::vector<std::string> open_texts(const State& state, const results::Resolving& looks,
                                    Seconds at_most) {
  std::vector<std::string> names;
  for (const StrategyPair* pair : state.open()) {
    names.push_back(fmt::format("{} {}", pair->dp->cell.model, pair->dp->cell.global_batch));
  }
  const std::string open = "open: " + reports::join(names, ", ");
  return {fmt::format("{} ({} of {}, {} at most)", open, names.size(),
                      count_text(looks.comparisons, "comparison"), short_time(at_most)),
          open, fmt::format("{} of {} open", names.size(), looks.comparisons)};
}

// The cells among `names` that did not measure the round.
std::set<std::string> without_round(const results::JournalContents& journal,
                                    std::set<std::string> names, int round) {
  for (const LaunchRecord& record : journal.launches) {
    if (record.launch_index == round && record.status == Status::kOk) {
      names.erase(record.cell.name());
    }
  }
  return names;
}

// Measures cells of comparisons, whose planned launches are those before the first look, until all
// are decided.
ResolveEnd resolve_pairs(const SweepPlan& plan, const results::Resolving& looks,
                         const Launcher& launcher, results::Journal& journal,
                         const Interrupts& interrupts) {
  SweepPlan part = plan;
  SweepRunner first(part, launcher, journal, interrupts);
  SweepEnd end = first.run();
  if (end != SweepEnd::kComplete) return {.end = end, .left_out = first.left_out()};
  std::set<std::string> lost = first.ended();
  part.goes_on = true;
  part.part = PlanPart::kLastRound;
  for (;;) {
    const State state(journal.contents(), looks, lost);
    const std::set<std::string> open = state.open_names();
    if (open.empty()) return {};
    if (end != SweepEnd::kComplete) return {.end = end, .left_out = {open.begin(), open.end()}};
    const int round = state.next_round();
    part.cells = with_names(plan.cells, open, true);
    part.launches = round + 1;
    SweepRunner runner(part, launcher, journal, interrupts);
    runner.decides(open_texts(state, looks, runner.ahead() * (looks.last_round - state.rounds())));
    end = runner.run();
    if (end == SweepEnd::kComplete) lost.merge(without_round(journal.contents(), open, round));
  }
}

// Measures the cells outside comparisons, up to others.launches of each before any gets `launches`.
// Their disturbed launches are replaced at the end; a comparison's further rounds replace its own.
ResolveEnd measure_others(SweepPlan others, int launches, const Launcher& launcher,
                          results::Journal& journal, const Interrupts& interrupts) {
  std::vector<int> steps{others.launches, launches};
  if (others.launches == launches) steps.pop_back();
  for (const int most : steps) {
    others.launches = most;
    others.part = most == launches ? PlanPart::kWhole : PlanPart::kPlanned;
    SweepRunner runner(others, launcher, journal, interrupts);
    const SweepEnd end = runner.run();
    if (end != SweepEnd::kComplete) return {.end = end, .left_out = runner.left_out()};
    others.cells = with_names(others.cells, runner.ended(), false);
  }
  return {};
}

// The looks in the journal; notes them first where there are none.
results::Resolving looks_of(results::Journal& journal, const results::Resolving& planned) {
  if (!journal.contents().sweep.resolving) journal.note_looks(planned);
  return *journal.contents().sweep.resolving;
}

// A third of the time until `end`, which a part of the run may take at most.
Seconds third_until(TimePoint end) { return Seconds{end - Clock::now()} / 3; }

}  // namespace

PlannedPairs pairs_in(const std::vector<results::Cell>& cells) {
  PlannedPairs pairs;
  for (const results::Cell& dp : cells) {
    if (dp.strategy != name_of(kDp) || dp.devices == 1) continue;
    for (const results::Cell& ddp : cells) {
      const bool is_at_point = ddp.strategy == name_of(kDdp) && ddp.model == dp.model &&
                               ddp.global_batch == dp.global_batch && ddp.devices == dp.devices;
      if (!is_at_point) continue;
      ++pairs.count;
      pairs.cells.insert({dp.name(), ddp.name()});
    }
  }
  return pairs;
}

void check_has_comparisons(const std::vector<results::Cell>& cells) {
  if (pairs_in(cells).count > 0) return;
  fail(ErrorKind::kUsage,
       "--resolve: the sweep has no dp and ddp at the same point on two or more devices, so there "
       "is nothing to resolve; measure both, or leave --resolve out");
}

void check_resolves(const results::SweepInfo& found, double ratio) {
  if (!found.resolving || found.resolving->ratio == ratio) return;
  fail(ErrorKind::kUsage,
       "--resolve: this folder was begun with {:g}%, here it is {:g}%; repeat the former or choose "
       "another --out",
       100 * found.resolving->ratio, 100 * ratio);
}

ResolveEnd resolve(const SweepPlan& plan, double ratio, const Launcher& launcher,
                   results::Journal& journal, const Interrupts& interrupts) {
  const PlannedPairs pairs = pairs_in(plan.cells);
  const results::Resolving looks =
      looks_of(journal, {.ratio = ratio,
                         .comparisons = pairs.count,
                         .first_round = plan.launches,
                         .last_round = kMostRoundsOfFirst * plan.launches});
  SweepPlan part = plan;
  part.part = PlanPart::kPlanned;
  part.launches = std::min(kRoundsOfAll, plan.launches);
  part.at_least = static_cast<int>(std::ssize(plan.cells)) * plan.launches;
  std::set<std::string> ended;
  int rounds_of_all = 0;
  SweepRunner of_all(part, launcher, journal, interrupts);
  // A budget that is too short for all cells goes to the comparisons.
  if (!plan.stop_at || of_all.ahead() <= third_until(*plan.stop_at)) {
    const SweepEnd end = of_all.run();
    if (end != SweepEnd::kComplete) return {.end = end, .left_out = of_all.left_out()};
    ended = of_all.ended();
    rounds_of_all = part.launches;
    part.goes_on = true;
  }
  const std::vector<results::Cell> left = with_names(plan.cells, ended, false);
  part.at_least = static_cast<int>(std::ssize(left)) * plan.launches;
  SweepPlan others = part;
  others.cells = with_names(left, pairs.cells, false);
  others.launches = std::min(rounds_of_all + 1, plan.launches);
  others.goes_on = true;
  part.cells = with_names(left, pairs.cells, true);
  part.launches = plan.launches;
  if (plan.stop_at && !others.cells.empty()) {
    const Seconds reserve = SweepRunner(others, launcher, journal, interrupts).ahead();
    part.stop_at = *plan.stop_at - std::chrono::duration_cast<Nanoseconds>(
                                       std::min(reserve, third_until(*plan.stop_at)));
  }
  ResolveEnd reached = resolve_pairs(part, looks, launcher, journal, interrupts);
  if (reached.end == SweepEnd::kInterrupted || others.cells.empty()) return reached;
  ResolveEnd rest = measure_others(std::move(others), plan.launches, launcher, journal, interrupts);
  if (rest.end == SweepEnd::kComplete) return reached;
  std::ranges::move(reached.left_out, std::back_inserter(rest.left_out));
  return rest;
}

}  // namespace tandem::cli
