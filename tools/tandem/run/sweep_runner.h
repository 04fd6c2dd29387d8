// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/base/units.h"
#include "common/results/journal.h"
#include "tools/tandem/launch/launcher.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/run/cell_groups.h"
#include "tools/tandem/run/progress.h"
#include "tools/tandem/sweep/plan.h"

namespace tandem::cli {

enum class SweepEnd { kComplete, kBudgetSpent, kInterrupted, kLostRank };

// The part of a plan that a runner takes.
enum class PlanPart {
  kWhole,      // the planned launches, then one in place of each disturbed one
  kPlanned,    // the planned launches alone
  kLastRound,  // the last planned launch of each cell
};

// The cells that a sweep measures, and its time limit.
struct SweepPlan {
  std::vector<results::Cell> cells;
  int launches = 0;
  DeviceLimit limit{};  // a cell beyond the limit is skipped
  // No launch starts after this time, so the most informative cells that fit are measured first.
  std::optional<TimePoint> stop_at;
  // Lists of models: after one model is out of memory, the models after it are skipped.
  std::vector<std::vector<std::string>> model_series{};
  PlanPart part = PlanPart::kWhole;
  // Whether other parts of the sweep have run just now: then the runner does not wait for a quiet
  // machine, nor say what is in the journal, nor end the run where its own first launches fail.
  bool goes_on = false;
  int at_least = 0;  // planned launches of the sweep, of which this plan is a part
};

// Walks through the plan, launch by launch, and journals each launch as soon as it is finished.
class SweepRunner {
 public:
  SweepRunner(SweepPlan plan, const Launcher& launcher, results::Journal& journal,
              const Interrupts& interrupts);

  // Throws a usage error where a cell has options that step_bench refuses, before any launch; where
  // this machine, if it is to measure, lacks the back end; where the first launch cannot reach its
  // hosts; and where the first two launches of a sweep without measurements end with the same usage
  // error, since all other launches would fail by the same cause.
  [[nodiscard]] SweepEnd run();

  // Says beside each launch what it helps to decide, in the longest of these texts that fits.
  void decides(std::vector<std::string> open) { open_ = std::move(open); }

  // The names of the cells that lack launches after kBudgetSpent and kLostRank.
  [[nodiscard]] std::vector<std::string> left_out() const;

  // The names of the cells of which no further launch is started: skipped ones, and those that
  // failed in this run too often.
  [[nodiscard]] std::set<std::string> ended() const;

  // The time that all launches still to run need.
  [[nodiscard]] Seconds ahead() const;

 private:
  struct CellState {
    std::string name;
    std::set<int> done;           // the rounds in which the cell was measured
    int disturbed = 0;            // in how many of them others disturbed the launch
    std::vector<double> medians;  // median steps of the launches there, seconds
    std::set<int> failed;         // the rounds that failed in this run, which the next run repeats
    bool settled = false;         // no further launch of the cell is started
  };

  void take_over();
  void skip_what_does_not_fit();
  void check_cells() const;
  // Runs the due launches of the `chosen` cells, interleaved; false where the run was ended.
  [[nodiscard]] bool run_cells(const std::vector<bool>& chosen);
  [[nodiscard]] SweepEnd run_within_budget();
  // Throws the usage error of a budget in which not one group of cells fits.
  [[noreturn]] void refuse_budget(const CellGroup& group) const;
  void skip(std::size_t cell, const std::string& reason);
  void launch(const PlannedLaunch& planned);
  // Says which cell's launch starts.
  void announce(std::size_t cell);
  // The first launch that measured a precision's peak decides the peak of all.
  void adopt_speeds(const results::LaunchRecord& record);
  [[nodiscard]] MachineSpeeds speeds_for(const results::Cell& cell) const;
  void stop_if_refused(const LaunchOutcome& outcome);
  void stop_if_unreachable(const LaunchOutcome& outcome);
  void note(std::size_t cell, const LaunchOutcome& outcome);
  void note_measured(std::size_t cell, const results::LaunchRecord& record);
  // The launches that the cell is to have: those of the plan, and, once all cells have these, one
  // in place of each disturbed one, as many again at most.
  [[nodiscard]] int wanted(const CellState& state) const;
  // Runs what is wanted.
  [[nodiscard]] SweepEnd measure();
  void skip_what_is_larger(std::size_t cell);
  [[nodiscard]] bool is_due(const PlannedLaunch& planned) const;
  [[nodiscard]] bool is_over_time() const;
  [[nodiscard]] std::vector<int> remaining() const;  // launches by cell

  SweepPlan plan_;
  std::vector<std::string> open_{};  // what launches are to decide; empty: nothing to say
  const Launcher& launcher_;
  results::Journal& journal_;
  const Interrupts& interrupts_;
  Progress progress_;
  std::vector<CellState> states_;
  LaunchTimes times_;
  int finished_ = 0;
  int of_others_ = 0;                    // launches measured of the sweep's other cells
  bool is_last_ = false;                 // whether no further launch can be made
  bool replaces_ = false;                // whether disturbed launches are being replaced
  std::map<std::string, double> peaks_;  // measured peak of a device by precision, GFLOP/s
  std::string refusal_;                  // usage error of the first launch
};

}  // namespace tandem::cli
