// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/results/document.h"
#include "common/stats/comparison.h"
#include "common/stats/estimate.h"
#include "common/stats/steadiness.h"

namespace tandem::reports {

struct PhaseMean {
  std::string name;
  double seconds = 0;
};

// One cell summed up over its launches.
struct CellSummary {
  results::Cell cell;
  std::string mode;
  results::Status status = results::Status::kOk;  // ok where at least one launch measured
  std::string reason;                             // reason of the last launch that did not measure
  int launches = 0;                               // launches that the figures are of
  int disturbed_launches = 0;                     // launches that others disturbed
  bool holds_disturbed = false;  // the figures are of disturbed launches too, for lack of others
  int failed_launches = 0;
  std::vector<const results::LaunchRecord*> measured;  // the launches of the figures
  long long samples = 0;
  bool oversubscribed = false;
  int devices_used = 0;  // the fewest devices of a launch; 0: not recorded
  std::string modelled;  // text of modelled_parts(); empty: measured
  // A projected cell's half width of its figures' intervals on logs, by what the method errs
  // by on published steps. Absent: measured, or nothing was published.
  std::optional<double> half_width{};
  std::string planted;                             // a deliberate delay; empty: none
  std::vector<std::string> warnings;               // warnings of the cell's launches, each once
  std::vector<double> medians;                     // median step of each launch, seconds
  std::vector<int> rounds;                         // the round of each launch
  std::optional<stats::Drift> drift;               // over the launches, in the document's order
  stats::Estimate median_step;                     // seconds
  stats::Estimate mean_step;                       // seconds
  stats::Estimate throughput;                      // samples per second: batch / mean step
  std::vector<double> joules;                      // of a step, of each launch whose GPUs report it
  std::optional<stats::Estimate> joules_per_step;  // of all GPUs together; absent: not recorded
  std::optional<stats::Estimate> speedup;  // median of `single` / own median, same model and batch
  // The efficiency of weak scaling: the median of `single` on one device's share of the batch
  // (batch / devices) over the own median. Absent for single, where devices do not divide the
  // batch, and where that `single` was not measured in the same mode and precision, with the same
  // optimizer and modelled parts.
  std::optional<stats::Estimate> weak_efficiency;
  std::vector<PhaseMean> phases;  // means per step of the critical device
  double remainder_seconds = 0;   // mean of step minus the sample's slowest device
  double flops_per_sample = 0;    // of the model's matrix products; 0: not recorded
  double peak_gflops = 0;         // measured peak of one device in the cell's precision; 0: none

  // The speed-up per device against `single`; absent where `single` was not measured.
  [[nodiscard]] std::optional<stats::Estimate> efficiency() const;
  // The launches that measured, those left out among them.
  [[nodiscard]] int all_measured() const;
  // Whether the whole interval of the efficiency is above 100 %, so that scatter alone does not
  // explain the efficiency; false without an interval.
  [[nodiscard]] bool efficiency_above_one() const;
  // GFLOP/s of the model's matrix products per device; absent where the operations are not
  // recorded.
  [[nodiscard]] std::optional<double> device_gflops() const;
  // device_gflops() over the measured peak; absent without a peak, and where devices share the
  // hardware behind the peak.
  [[nodiscard]] std::optional<double> peak_share() const;
  // The share of the step that no phase accounts for.
  [[nodiscard]] double remainder_share() const;
};

// The comparison of dp and ddp at one point.
struct StrategyPair {
  const CellSummary* dp = nullptr;
  const CellSummary* ddp = nullptr;
  // The median of dp / median of ddp: above 1 where ddp is faster. In a resolving sweep the
  // interval holds at all looks and for all comparisons together.
  stats::Estimate ddp_speed;
  double confidence = stats::kConfidence;  // of the interval
  stats::Verdict ddp_verdict = stats::Verdict::kNotResolved;
  // In a resolving sweep the ratio that it takes for equal, where the interval lies within it.
  std::optional<double> equal_within{};
};

// The speed of the faster over the slower; ddp's over dp's where the verdict is open.
[[nodiscard]] stats::Estimate lead_of(const StrategyPair& pair);

// Whether the comparison is one of devices that exchange something.
[[nodiscard]] bool on_several_devices(const StrategyPair& pair);

// Whether the two are shown equal within the document's ratio, and neither faster beyond doubt.
[[nodiscard]] bool is_shown_equal(const StrategyPair& pair);

// Whether the two are neither resolved nor shown equal.
[[nodiscard]] bool is_open(const StrategyPair& pair);

// All cells, sorted by model, batch, devices and strategy. Comparisons point into `cells`.
struct Summary {
  std::vector<CellSummary> cells;
  std::vector<StrategyPair> comparisons;

  Summary() = default;
  Summary(Summary&&) = default;  // moving a vector leaves its elements where they are
  Summary& operator=(Summary&&) = default;
  Summary(const Summary&) = delete;
  Summary& operator=(const Summary&) = delete;
};

// The promise of projected figures' intervals.
inline constexpr double kProjectedConfidence = 0.9;

// Fills in the medians of the launches, their rounds, and the median step.
void fill_medians(CellSummary& summary, const std::vector<const results::LaunchRecord*>& measured);

// The ratio of two cells' launch medians, round by round.
[[nodiscard]] stats::Estimate ratio_of(const CellSummary& numerator, const CellSummary& denominator,
                                       double confidence = stats::kConfidence);

// The cells of the same back end, model and batch, found by bisection in cells sorted as a
// summary's.
[[nodiscard]] std::span<const CellSummary> of_same_workload(std::span<const CellSummary> cells,
                                                            const results::Cell& cell);

// The cell's modelled parts. A projected cell's interpreter lock is left out: dp alone has it, and
// it does not separate workloads or curves.
[[nodiscard]] std::string models_but_lock(const CellSummary& summary);

// The mark beside a point of which times were not measured: "modelled: " and the parts, or, of a
// projection, whose table of cells names the parts, "projected on dgx-a100"; else empty.
[[nodiscard]] std::string modelled_mark(const CellSummary& summary);

// Whether two cells answer the same question on the same workload, devices and back end.
[[nodiscard]] bool same_point(const CellSummary& a, const CellSummary& b);

// Whether all measured cells are on pretended GPUs, so that their times are the host's work.
[[nodiscard]] bool is_of_host_work(const Summary& summary);

// Whether all cells are simulated, so that no figure is measured.
[[nodiscard]] bool is_projected(const Summary& summary);

// The summary points into the document, which must outlive the summary.
[[nodiscard]] Summary summarize(const results::Document& document);
Summary summarize(results::Document&& document) = delete;

// The cell of `single` on the cell's model with this batch, in the same precision and as many
// micro-batches, with the same optimizer and modelled parts, replayed where the cell is replayed;
// where several fit, one without options. nullptr where no such cell measured. `cells` are sorted
// as a summary's.
[[nodiscard]] const CellSummary* baseline_of(const CellSummary& summary, std::int64_t batch,
                                             const std::vector<CellSummary>& cells);

}  // namespace tandem::reports
