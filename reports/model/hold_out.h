// SPDX-License-Identifier: Apache-2.0
//
// How well a projection predicts what was measured: measured cells, each predicted from what is not
// that cell, the errors of several methods on them, and the interval that such errors earn a figure
// that nobody measured. Closed forms, from the step of one device, are what a projection by
// simulation has to beat.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/results/launch_record.h"
#include "common/stats/estimate.h"

namespace tandem::reports {

// The ways to predict a step: the projection's own, and closed forms that it has to beat.
enum class Prediction { kSimulated, kPerfectScaling, kNoOverlap, kCostPerCall };
inline constexpr std::size_t kPredictions = 4;
inline constexpr std::array<std::string_view, kPredictions> kPredictionNames{
    "projected", "perfect scaling", "transfers without overlap", "one cost per call"};

// A measured cell with its predictions.
struct HeldOut {
  results::Cell cell;
  stats::Estimate measured;                    // seconds of a step
  std::array<double, kPredictions> seconds{};  // by Prediction; 0: the method has none

  [[nodiscard]] double by(Prediction method) const {
    return seconds[static_cast<std::size_t>(method)];
  }
};

// |predicted / measured - 1|. The method has a prediction.
[[nodiscard]] double error_of(const HeldOut& row, Prediction method);

// The part of the error that the measured interval does not explain: how far the prediction lies
// outside, over the measured centre. Without an interval the whole error.
[[nodiscard]] double error_beyond_interval(const HeldOut& row, Prediction method);

// Errors over all cells that have a prediction by the method; the 90th percentile by nearest rank.
struct ErrorFigures {
  int cells = 0;
  double mean = 0;
  double p90 = 0;
  double most = 0;
};

// Absent where no cell has a prediction by the method.
[[nodiscard]] std::optional<ErrorFigures> error_figures(const std::vector<HeldOut>& rows,
                                                        Prediction method);
[[nodiscard]] std::optional<ErrorFigures> figures_beyond_intervals(const std::vector<HeldOut>& rows,
                                                                   Prediction method);

// What cells are grouped by, to leave one group out at a time.
enum class Fold { kStrategy, kDevices, kBatch, kModel };
inline constexpr std::array kFolds{Fold::kStrategy, Fold::kDevices, Fold::kBatch, Fold::kModel};

[[nodiscard]] std::string_view name_of(Fold fold);

// The least half width of an interval, on logs: two hold-outs that agree by chance earn no less.
inline constexpr double kLeastHalfWidth = 0.03;

// With fewer errors the interval is the largest of them, which promises n / (n + 1), not 90 %.
inline constexpr int kFewestForNinety = 9;

// The half width, on logs, of the interval around a projected figure: the ceil(0.9 (n + 1))-th
// smallest of the n errors |log(predicted / measured)| of the rows, which a further error of the
// same kind stays below with a probability of 90 % (split conformal prediction: Lei et al., Journal
// of the American Statistical Association 113, 2018); the largest error where n is below
// kFewestForNinety, and kLeastHalfWidth at least. Absent without rows.
[[nodiscard]] std::optional<double> half_width(const std::vector<HeldOut>& rows);

// How often intervals hold the measured value, where each interval's width comes from other groups
// alone.
struct FoldCoverage {
  Fold fold{};
  int groups = 0;
  int cells = 0;
  int inside = 0;
  double median_half_width = 0;  // on logs
};

// One coverage per fold that has two groups or more.
[[nodiscard]] std::vector<FoldCoverage> nested_coverage(const std::vector<HeldOut>& rows);

// The half width of a projection's interval on logs: that of its errors, as often again as the
// devices double beyond the most that were measured.
[[nodiscard]] double projected_half_width(double half_width, int devices, int most_measured);

// From the figure divided by e^half_width to the figure times it.
[[nodiscard]] stats::Interval interval_around(double figure, double half_width);

// A projected figure's interval, of both.
[[nodiscard]] stats::Interval projected_interval(double seconds, double half_width, int devices,
                                                 int most_measured);

// A link on which S bytes take `latency_seconds` + S / `bytes_per_second`, in each direction.
struct LinkFigures {
  double latency_seconds = 0;
  double bytes_per_second = 0;  // 0: not known
};

// What closed forms know of a cell.
struct KnownOfCell {
  double one_device_seconds = 0;  // a step of `single` on one device's share of the batch
  double parameter_bytes = 0;
  double calls = 0;  // the strategy's calls per step, all devices together; 0: not known
  LinkFigures link{};
};

// The step of one device, and then all transfers, none hidden behind computation: where every rank
// has its weights, a ring's all-reduce of the gradients, 2 (n - 1) (a + S / (n B)) (Patarasuk and
// Yuan, Journal of Parallel and Distributed Computing 69, 2009); where one device hands them out,
// weights and gradients of n - 1 devices through its port, 2 (n - 1) (a + S / B). `independent`
// transfers nothing. 0 where the link is not known.
[[nodiscard]] double without_overlap(const results::Cell& cell, const KnownOfCell& known);

// Fills in perfect scaling, no overlap, and one cost per call: the step of one device and the calls
// times a cost that is fitted, by least squares, to the other cells of the strategy; none where
// there is no other such cell. `known` has an entry per row.
void add_closed_forms(std::vector<HeldOut>& rows, const std::vector<KnownOfCell>& known);

}  // namespace tandem::reports
