// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/sweep_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "common/base/error.h"
#include "common/base/text.h"
#include "common/results/disturbance.h"
#include "common/stats/summary.h"
#include "reports/model/subject.h"
#include "tools/tandem/run/cell_groups.h"
#include "tools/tandem/run/measuring.h"

namespace tandem::cli {
namespace {

using reports::implementation_of;
using reports::precision_of;
using results::LaunchRecord;
using results::Status;

// What is shown beside the launches behind the planned ones, which the total then counts.
constexpr const char* kReplacing = "in place of a disturbed launch";

bool is_out_of_memory(const LaunchRecord& record) {
  return record.status == Status::kSkipped &&
         record.reason.find("out of memory") != std::string::npos;
}

}  // namespace

SweepRunner::SweepRunner(SweepPlan plan, const Launcher& launcher, results::Journal& journal,
                         const Interrupts& interrupts)
    : plan_(std::move(plan)),
      launcher_(launcher),
      journal_(journal),
      interrupts_(interrupts),
      states_(plan_.cells.size()),
      times_(expected_times(plan_.cells, launcher, interrupts)) {
  for (std::size_t i = 0; i < states_.size(); ++i) states_[i].name = plan_.cells[i].name();
  take_over();
}

// Takes over the journal: launches that measured and cells that were skipped stay, others run
// again, since the user may have mended the cause.
void SweepRunner::take_over() {
  std::map<std::string, std::size_t> places;
  for (std::size_t cell = 0; cell < states_.size(); ++cell) places[states_[cell].name] = cell;
  std::vector<std::size_t> out_of_memory;
  for (const LaunchRecord& record : journal_.contents().launches) {
    adopt_speeds(record);
    const auto place = places.find(record.cell.name());
    if (place == places.end()) {
      of_others_ += record.status == Status::kOk ? 1 : 0;
      continue;
    }
    const std::size_t cell = place->second;
    if (record.status == Status::kSkipped) states_[cell].settled = true;
    if (is_out_of_memory(record)) out_of_memory.push_back(cell);
    if (record.status != Status::kOk) continue;
    times_.add(cell, time_of(record));
    note_measured(cell, record);
    ++finished_;
  }
  for (const std::size_t cell : out_of_memory) skip_what_is_larger(cell);
}

void SweepRunner::note_measured(std::size_t cell, const LaunchRecord& record) {
  CellState& state = states_[cell];
  state.done.insert(record.launch_index);
  state.medians.push_back(stats::median(record.step_seconds));
  if (!results::disturbances(record).empty()) ++state.disturbed;
}

int SweepRunner::wanted(const CellState& state) const {
  return plan_.launches + (replaces_ ? std::min(plan_.launches, state.disturbed) : 0);
}

void SweepRunner::adopt_speeds(const LaunchRecord& record) {
  if (record.peak_gflops > 0) peaks_.try_emplace(record.precision, record.peak_gflops);
}

// Ranks would wait while one rank measures the peak, so a cell of one process measures the peak
// where the precision has such a cell.
MachineSpeeds SweepRunner::speeds_for(const results::Cell& cell) const {
  if (!implementation_of(cell).empty()) return {};  // torch takes no speeds of the machine
  MachineSpeeds speeds;
  const std::string precision = precision_of(cell);
  const auto known = peaks_.find(precision);
  if (known != peaks_.end()) {
    speeds.peak_gflops = fmt::format("{}", known->second);
    return speeds;
  }
  const bool others_can = std::ranges::any_of(plan_.cells, [&](const results::Cell& other) {
    return other.launch == "threads" && precision_of(other) == precision &&
           implementation_of(other).empty();
  });
  if (cell.launch == "threads" || !others_can) speeds.peak_gflops = "measured";
  return speeds;
}

SweepEnd SweepRunner::run() {
  check_cells();
  skip_what_does_not_fit();
  if (finished_ > 0 && !plan_.goes_on) {
    progress_.say(fmt::format("resuming: {} in the journal", count_text(finished_, "launch")));
  }
  const SweepEnd end = measure();
  if (end == SweepEnd::kComplete && plan_.part == PlanPart::kWhole) {
    // Cells of these that a budget or an interrupt leaves are no part of the plan.
    replaces_ = true;
    static_cast<void>(measure());
    replaces_ = false;
  }
  progress_.end();
  if (interrupts_.requested()) return SweepEnd::kInterrupted;
  return is_last_ ? SweepEnd::kLostRank : end;
}

SweepEnd SweepRunner::measure() {
  if (plan_.stop_at) return run_within_budget();
  static_cast<void>(run_cells(std::vector<bool>(states_.size(), true)));
  return SweepEnd::kComplete;
}

// The times of the first cells decide how many further cells fit.
SweepEnd SweepRunner::run_within_budget() {
  const std::vector<CellGroup> groups = most_informative_first(plan_.cells);
  for (;;) {
    const std::vector<int> launches = remaining();
    if (std::ranges::all_of(launches, [](int count) { return count <= 0; })) {
      return SweepEnd::kComplete;
    }
    const std::vector<CellGroup> fitting =
        within(Seconds{*plan_.stop_at - Clock::now()}, groups, launches, times_);
    if (fitting.empty() && finished_ == 0 && !plan_.goes_on) refuse_budget(groups.front());
    if (fitting.empty()) return SweepEnd::kBudgetSpent;
    std::vector<bool> chosen(states_.size(), false);
    for (const CellGroup& group : fitting) {
      for (const std::size_t cell : group) chosen[cell] = true;
    }
    if (!run_cells(chosen)) return SweepEnd::kBudgetSpent;
  }
}

void SweepRunner::refuse_budget(const CellGroup& group) const {
  std::vector<int> launches(states_.size(), 0);
  for (const std::size_t cell : group) launches[cell] = plan_.launches;
  fail(ErrorKind::kUsage,
       "--budget: not even the first {} fit into it, which take about {} by a guess: give more",
       count_text(std::ssize(group), "cell"), short_time(times_.total(launches)));
}

bool SweepRunner::run_cells(const std::vector<bool>& chosen) {
  // The second half takes the place of launches that others disturbed.
  for (const PlannedLaunch& planned : interleaved(plan_.cells, 2 * plan_.launches)) {
    if (!chosen[planned.cell] || !is_due(planned)) continue;
    if (interrupts_.requested() || is_over_time() || is_last_) return false;
    launch(planned);
  }
  return !interrupts_.requested();
}

Seconds SweepRunner::ahead() const { return times_.total(remaining()); }

bool SweepRunner::is_over_time() const { return plan_.stop_at && Clock::now() >= *plan_.stop_at; }

std::set<std::string> SweepRunner::ended() const {
  std::set<std::string> names;
  for (const CellState& state : states_) {
    if (state.settled) names.insert(state.name);
  }
  return names;
}

std::vector<std::string> SweepRunner::left_out() const {
  const std::vector<int> launches = remaining();
  std::vector<std::string> names;
  for (std::size_t cell = 0; cell < states_.size(); ++cell) {
    if (launches[cell] > 0) names.push_back(states_[cell].name);
  }
  return names;
}

void SweepRunner::skip_what_does_not_fit() {
  for (std::size_t cell = 0; cell < states_.size(); ++cell) {
    const auto reason = why_too_large(plan_.limit, plan_.cells[cell]);
    if (reason && !states_[cell].settled) skip(cell, *reason);
  }
}

// Checks the options once, where a sweep begins, and the back end in every run.
void SweepRunner::check_cells() const {
  std::vector<results::Cell> cells;
  for (std::size_t cell = 0; cell < states_.size(); ++cell) {
    const bool fits = !why_too_large(plan_.limit, plan_.cells[cell]);
    if (fits && !states_[cell].settled) cells.push_back(plan_.cells[cell]);
  }
  if (finished_ == 0) check_options(cells, launcher_, interrupts_);
  // All cells have the same back end. Only a launch can find the back end of other machines.
  if (cells.empty() || interrupts_.requested() || plan_.limit.site.is_elsewhere()) return;
  const std::string refusal = launcher_.refusal_of(cells.front(), Check::kBackend);
  if (!refusal.empty()) fail(ErrorKind::kUsage, "{}", refusal);
}

void SweepRunner::skip(std::size_t cell, const std::string& reason) {
  LaunchRecord record;
  record.cell = plan_.cells[cell];
  record.status = Status::kSkipped;
  record.reason = reason;
  journal_.append(record);
  states_[cell].settled = true;
}

bool SweepRunner::is_due(const PlannedLaunch& planned) const {
  const CellState& state = states_[planned.cell];
  if (replaces_ && planned.launch < plan_.launches) return false;
  if (plan_.part == PlanPart::kLastRound && planned.launch != plan_.launches - 1) return false;
  return !state.settled && planned.launch < wanted(state) && !state.done.contains(planned.launch) &&
         !state.failed.contains(planned.launch);
}

// The launches still to run.
std::vector<int> SweepRunner::remaining() const {
  std::vector<int> counts(states_.size(), 0);
  for (std::size_t cell = 0; cell < states_.size(); ++cell) {
    for (int launch = 0; launch < wanted(states_[cell]); ++launch) {
      counts[cell] += is_due({.cell = cell, .launch = launch}) ? 1 : 0;
    }
  }
  return counts;
}

void SweepRunner::launch(const PlannedLaunch& planned) {
  constexpr int kMostFailures = 2;
  announce(planned.cell);
  const results::Cell& cell = plan_.cells[planned.cell];
  const TimePoint start = Clock::now();
  const std::optional<LaunchOutcome> outcome =
      launcher_.run(cell, planned.launch, speeds_for(cell));
  if (!outcome) return;  // an interrupt cut it short
  stop_if_refused(*outcome);
  stop_if_unreachable(*outcome);
  adopt_speeds(outcome->record);
  journal_.append(outcome->record);
  ++finished_;
  times_.add(planned.cell, Clock::now() - start);
  is_last_ = outcome->is_last;
  note(planned.cell, *outcome);
  CellState& state = states_[planned.cell];
  if (outcome->record.status == Status::kOk) note_measured(planned.cell, outcome->record);
  if (outcome->record.status == Status::kFailed) state.failed.insert(planned.launch);
  if (std::ssize(state.failed) >= kMostFailures) state.settled = true;
}

void SweepRunner::announce(std::size_t cell) {
  const CellState& state = states_[cell];
  const std::vector<int> left = remaining();
  const int done = of_others_ + finished_;
  const int due = std::accumulate(left.begin(), left.end(), 0);
  const int to_come = std::max(due, plan_.at_least - done);
  std::string known;
  if (!state.medians.empty()) {
    known = to_string(Seconds{stats::median(state.medians)}) + " a step so far";
  }
  progress_.starting({.cell = plan_.cells[cell],
                      .done = done,
                      .total = done + to_come,
                      .left = times_.total(left) * to_come / due,  // the others take as long
                      .open = replaces_ ? std::vector<std::string>{kReplacing} : open_,
                      .known = std::move(known)});
}

// One refusal may concern its cell alone; a second cell's refusal in the same words concerns all
// cells.
void SweepRunner::stop_if_refused(const LaunchOutcome& outcome) {
  if (!outcome.usage_error || finished_ > 1 || plan_.goes_on) return;
  const std::string& reason = outcome.record.reason;
  if (finished_ == 0 && states_.size() > 1) {
    refusal_ = reason;
  } else if (finished_ == 0 || reason == refusal_) {
    progress_.end();
    fail(ErrorKind::kUsage, "{}", reason);
  }
}

// Only the first launch can end the sweep: all cells share the hosts, but a host that is lost later
// may come back.
void SweepRunner::stop_if_unreachable(const LaunchOutcome& outcome) {
  if (!outcome.unreachable || finished_ > 0 || plan_.goes_on) return;
  progress_.end();
  fail(ErrorKind::kUsage,
       "{}; nothing can be started on {}: look at the names, and whether ssh gets there without a "
       "password",
       outcome.record.reason, text_of(plan_.limit.site));
}

void SweepRunner::note(std::size_t cell, const LaunchOutcome& outcome) {
  CellState& state = states_[cell];
  const LaunchRecord& record = outcome.record;
  switch (record.status) {
    case Status::kOk:
      return;
    case Status::kSkipped:
      state.settled = true;
      if (is_out_of_memory(record)) skip_what_is_larger(cell);
      break;
    case Status::kFailed:
      state.settled = state.settled || outcome.hopeless;
      break;
  }
  const std::string log =
      record.status == Status::kFailed ? "; the log is " + outcome.log.string() : "";
  progress_.say(
      fmt::format("{}: {}: {}{}", to_string(record.status), state.name, record.reason, log));
}

// A cell that was out of memory rules out cells with more samples or a larger model, unless such a
// cell has measured.
void SweepRunner::skip_what_is_larger(std::size_t cell) {
  const results::Cell& small = plan_.cells[cell];
  for (std::size_t other = 0; other < states_.size(); ++other) {
    if (states_[other].settled || !states_[other].done.empty()) continue;
    const results::Cell& large = plan_.cells[other];
    if (!is_larger(large, small, plan_.model_series)) continue;
    const std::string with = large.model == small.model ? "" : " with " + small.model;
    skip(other, fmt::format("out of memory{} at batch {} already", with, small.global_batch));
  }
}

}  // namespace tandem::cli
