// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/sweep_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "common/base/error.h"
#include "reports/modelled.h"

namespace tandem::cli {
namespace {

using reports::precision_of;
using results::LaunchRecord;
using results::Status;

bool is_out_of_memory(const LaunchRecord& record) {
  return record.status == Status::kSkipped &&
         record.reason.find("out of memory") != std::string::npos;
}

}  // namespace

SweepRunner::SweepRunner(Plan plan, const Launcher& launcher, results::Journal& journal,
                         const Interrupts& interrupts)
    : plan_(std::move(plan)),
      launcher_(launcher),
      journal_(journal),
      interrupts_(interrupts),
      states_(plan_.cells.size()) {
  take_over(journal_.found().launches);
}

// A resumed sweep: what measured or was skipped stays, what failed is tried again, for the user
// may have mended the cause.
void SweepRunner::take_over(const std::vector<LaunchRecord>& journaled) {
  for (const LaunchRecord& record : journaled) adopt_speeds(record);
  for (std::size_t cell = 0; cell < states_.size(); ++cell) {
    const std::string name = plan_.cells[cell].name();
    bool out_of_memory = false;
    for (const LaunchRecord& record : journaled) {
      if (record.cell.name() != name) continue;
      if (record.status == Status::kOk) states_[cell].done.insert(record.launch_index);
      if (record.status == Status::kSkipped) states_[cell].settled = true;
      out_of_memory = out_of_memory || is_out_of_memory(record);
    }
    finished_ += static_cast<int>(states_[cell].done.size());
    if (out_of_memory) skip_larger_batches(cell);
  }
}

void SweepRunner::adopt_speeds(const LaunchRecord& record) {
  if (core_gflops_ == 0) core_gflops_ = record.core_gflops;
  if (record.peak_gflops > 0) peaks_.try_emplace(record.precision, record.peak_gflops);
}

// Ranks would wait for the one that measures: where a precision has cells of one process, those do.
Yardsticks SweepRunner::yardsticks_for(const results::Cell& cell) const {
  Yardsticks yardsticks{.core_gflops = core_gflops_};
  const std::string precision = precision_of(cell);
  const auto known = peaks_.find(precision);
  if (known != peaks_.end()) {
    yardsticks.peak_gflops = fmt::format("{}", known->second);
    return yardsticks;
  }
  const bool others_can =
      std::any_of(plan_.cells.begin(), plan_.cells.end(), [&](const results::Cell& other) {
        return other.launch == "threads" && precision_of(other) == precision;
      });
  if (cell.launch == "threads" || !others_can) yardsticks.peak_gflops = "measured";
  return yardsticks;
}

SweepEnd SweepRunner::run() {
  skip_what_does_not_fit();
  check_options();
  if (finished_ > 0) {
    progress_.say(fmt::format("resuming: {} launches are in the journal", finished_));
  }
  for (const Slot& slot : interleaved(plan_.cells.size(), plan_.launches)) {
    if (interrupts_.requested()) break;
    if (!is_due(slot)) continue;
    if (plan_.stop_at && Clock::now() >= *plan_.stop_at) {
      progress_.end();
      return SweepEnd::kBudgetSpent;
    }
    launch(slot);
  }
  progress_.end();
  return interrupts_.requested() ? SweepEnd::kInterrupted : SweepEnd::kComplete;
}

void SweepRunner::skip_what_does_not_fit() {
  for (std::size_t cell = 0; cell < states_.size(); ++cell) {
    const auto reason = why_too_large(plan_.limit, plan_.cells[cell]);
    if (reason && !states_[cell].settled) skip(cell, *reason);
  }
}

void SweepRunner::check_options() const {
  const results::Cell* any = nullptr;
  for (std::size_t cell = 0; cell < states_.size() && !interrupts_.requested(); ++cell) {
    if (states_[cell].settled) continue;
    any = &plan_.cells[cell];
    const std::string refusal = launcher_.refusal_of(*any, Check::kOptions);
    if (refusal.empty()) continue;
    fail(ErrorKind::kUsage, "the sweep's cell {}: {}", any->name(), refusal);
  }
  // All have the same back end; what other machines have, only a launch can tell.
  if (any == nullptr || plan_.limit.site.is_elsewhere()) return;
  const std::string refusal = launcher_.refusal_of(*any, Check::kBackend);
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

bool SweepRunner::is_due(const Slot& slot) const {
  const CellState& state = states_[slot.cell];
  return !state.settled && !state.done.contains(slot.launch);
}

std::map<std::string, int> SweepRunner::remaining() const {
  std::map<std::string, int> counts;
  for (std::size_t cell = 0; cell < states_.size(); ++cell) {
    const CellState& state = states_[cell];
    if (state.settled) continue;
    counts[plan_.cells[cell].name()] =
        plan_.launches - static_cast<int>(state.done.size()) - state.failures;
  }
  return counts;
}

void SweepRunner::launch(const Slot& slot) {
  const std::string name = plan_.cells[slot.cell].name();
  const std::map<std::string, int> left = remaining();
  int total = finished_;
  for (const auto& [cell, launches] : left) total += launches;
  progress_.starting(name, finished_, total, left);

  const TimePoint start = Clock::now();
  const std::optional<LaunchOutcome> outcome =
      launcher_.run(plan_.cells[slot.cell], slot.launch, yardsticks_for(plan_.cells[slot.cell]));
  if (!outcome) return;
  stop_if_refused(*outcome);
  stop_if_unreachable(*outcome);
  adopt_speeds(outcome->record);
  journal_.append(outcome->record);
  ++finished_;
  progress_.finished(name, Clock::now() - start);
  note(slot.cell, *outcome);
}

// One refusal may be about its cell; a second one of another cell, in the same words, is not.
void SweepRunner::stop_if_refused(const LaunchOutcome& outcome) {
  const std::string& reason = outcome.record.reason;
  if (!outcome.usage_error || finished_ > 1) return;
  if (finished_ == 0 && states_.size() > 1) {
    refusal_ = reason;
  } else if (finished_ == 0 || reason == refusal_) {
    progress_.end();
    fail(ErrorKind::kUsage, "{}", reason);
  }
}

// Hosts are the same for all cells. One that is lost later may come back.
void SweepRunner::stop_if_unreachable(const LaunchOutcome& outcome) {
  if (!outcome.unreachable || finished_ > 0) return;
  progress_.end();
  fail(ErrorKind::kUsage,
       "{}; nothing can be started on {}: look at the names, and whether ssh gets there without a "
       "password",
       outcome.record.reason, text_of(plan_.limit.site));
}

void SweepRunner::note(std::size_t cell, const LaunchOutcome& outcome) {
  constexpr int kMostFailures = 2;
  CellState& state = states_[cell];
  const LaunchRecord& record = outcome.record;
  switch (record.status) {
    case Status::kOk:
      state.done.insert(record.launch_index);
      return;
    case Status::kSkipped:
      state.settled = true;
      if (is_out_of_memory(record)) skip_larger_batches(cell);
      break;
    case Status::kFailed:
      ++state.failures;
      state.settled = outcome.hopeless || state.failures >= kMostFailures;
      break;
  }
  progress_.say(
      fmt::format("{}: {}: {}", to_string(record.status), plan_.cells[cell].name(), record.reason));
}

// What did not fit will not fit with more samples; a cell that has measured contradicts that.
void SweepRunner::skip_larger_batches(std::size_t cell) {
  const results::Cell& small = plan_.cells[cell];
  for (std::size_t other = 0; other < states_.size(); ++other) {
    const results::Cell& large = plan_.cells[other];
    if (states_[other].settled || !states_[other].done.empty()) continue;
    if (large.global_batch <= small.global_batch || !same_series(small, large)) continue;
    skip(other, fmt::format("out of memory at batch {} already", small.global_batch));
  }
}

}  // namespace tandem::cli
