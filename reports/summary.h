// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/results/document.h"
#include "common/stats/comparison.h"
#include "common/stats/drift.h"
#include "common/stats/estimate.h"
#include "common/stats/modes.h"

namespace tandem::reports {

struct PhaseMean {
  std::string name;
  double seconds = 0;
};

// What speaks against taking a cell's launches as independent draws around one time.
struct Unsteadiness {
  std::optional<stats::Drift> drift;          // over launches, in the document's order
  std::optional<stats::Split> modes;          // of launch medians, seconds
  int launches_in_modes = 0;                  // whose own steps gather around two times
  int launches_with_enough_steps = 0;         // to tell that
  [[nodiscard]] bool steps_in_modes() const;  // in half of these launches or more
};

// One cell over its launches.
struct CellSummary {
  results::Cell cell;
  std::string mode;
  results::Status status = results::Status::kOk;  // ok where at least one launch measured
  std::string reason;                             // of the last launch that did not
  int launches = 0;                               // that measured
  int failed_launches = 0;
  std::vector<const results::LaunchRecord*> measured;  // those launches, in the document
  long long samples = 0;
  bool oversubscribed = false;
  int devices_used = 0;               // the fewest of a launch; 0: not told
  std::string modelled;               // modelled_parts(); empty: measured
  std::string planted;                // a delay put there on purpose; empty: none
  std::vector<std::string> warnings;  // of its launches, each once
  std::vector<double> medians;        // of each launch, seconds
  Unsteadiness unsteadiness;
  stats::Estimate median_step;             // seconds
  stats::Estimate mean_step;               // seconds
  stats::Estimate throughput;              // samples per second: batch / mean step
  std::optional<stats::Estimate> speedup;  // median of `single` / own; same model and batch
  // Of weak scaling: median of `single` on the batch that one device has here (batch / devices) /
  // own. Absent for single, where devices do not divide the batch, and where that `single` was not
  // measured in the same mode and precision, with the same optimizer and models.
  std::optional<stats::Estimate> weak_efficiency;
  std::vector<PhaseMean> phases;  // means per step of the critical device
  double remainder_seconds = 0;   // mean of step minus that sample's slowest device
  double flops_per_sample = 0;    // of the model's products; 0: not told
  double peak_gflops = 0;         // measured, of one device in the cell's precision; 0: none

  // Speed-up per device against `single`; absent where that was not measured.
  [[nodiscard]] std::optional<stats::Estimate> efficiency() const;
  // Above 100 %, and not by scatter alone: the whole interval is. Without one nothing is known.
  [[nodiscard]] bool efficiency_above_one() const;
  // Of the model's products per device; absent where the model's are not told.
  [[nodiscard]] std::optional<double> device_gflops() const;
  // The same over the measured peak; absent without one, and where devices share what has it.
  [[nodiscard]] std::optional<double> peak_share() const;
  // Share of the step that no phase accounts for.
  [[nodiscard]] double remainder_share() const;
};

// dp against ddp at one point.
struct Comparison {
  const CellSummary* dp = nullptr;
  const CellSummary* ddp = nullptr;
  stats::Estimate ddp_speed;  // median of dp / median of ddp: above 1 where ddp is faster
  stats::Verdict ddp_verdict = stats::Verdict::kNotResolved;
};

// Sorted by model, batch, devices and strategy. Comparisons point into `cells`.
struct Summary {
  std::vector<CellSummary> cells;
  std::vector<Comparison> comparisons;

  Summary() = default;
  Summary(Summary&&) = default;  // moving a vector leaves its elements where they are
  Summary& operator=(Summary&&) = default;
  Summary(const Summary&) = delete;
  Summary& operator=(const Summary&) = delete;
};

// Of cells sorted as a summary's, those of one back end, model and batch; without looking at all.
[[nodiscard]] std::span<const CellSummary> of_same_workload(std::span<const CellSummary> cells,
                                                            const results::Cell& cell);

// The summary points into the document, which has to outlive it.
[[nodiscard]] Summary summarize(const results::Document& document);
Summary summarize(results::Document&& document) = delete;

}  // namespace tandem::reports
