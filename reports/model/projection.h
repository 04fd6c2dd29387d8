// SPDX-License-Identifier: Apache-2.0
//
// A projection: how well measured cells are predicted, each from what is not that cell, and what
// follows for cells that nobody measured.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/results/launch_record.h"
#include "reports/model/summary.h"

namespace tandem::reports {

// A measured cell that was held out of its own prediction.
struct HeldOutCell {
  results::Cell cell;
  stats::Estimate measured;      // seconds of a step
  double projected_seconds = 0;  // of a step

  // |projected / measured - 1|.
  [[nodiscard]] double error() const;
};

// The errors of held-out cells.
struct ErrorFigures {
  int cells = 0;
  double mean = 0;
  double most = 0;
};

// Absent without cells.
[[nodiscard]] std::optional<ErrorFigures> error_figures(const std::vector<HeldOutCell>& cells);

// The least half width of an interval, on logs: two hold-outs that agree by chance earn no less.
inline constexpr double kLeastHalfWidth = 0.03;

// With fewer errors the interval is the largest of them, which promises n / (n + 1), not 90 %.
inline constexpr int kFewestForNinety = 9;

// The half width, on logs, of the interval around a projected figure, by split conformal prediction
// (docs/method/projection.md#intervals) from the errors |log(projected / measured)| of the cells:
// the largest where they are fewer than kFewestForNinety, kLeastHalfWidth at least. Absent without
// cells.
[[nodiscard]] std::optional<double> half_width(const std::vector<HeldOutCell>& cells);

// The half width of a projection's interval on logs: that of its errors, as often again as the
// devices double beyond the most that were measured.
[[nodiscard]] double projected_half_width(double half_width, int devices, int most_measured);

// From the figure divided by e^w to the figure times it; w is the half width, or the root of the
// sum of squares with that of another error, taken as independent.
[[nodiscard]] stats::Interval interval_around(double figure, double half_width, double other = 0);

// A projected figure's interval, of both.
[[nodiscard]] stats::Interval projected_interval(double seconds, double half_width, int devices,
                                                 int most_measured);

// A projected cell. Without a hold-out there is no interval.
struct ProjectedCell {
  results::Cell cell;                        // of back end "simulated"
  double seconds = 0;                        // of a step
  std::map<std::string, double> rests_on{};  // LaunchRecord::rests_on
  std::optional<stats::Interval> interval{};
};

struct NotProjected {
  results::Cell cell;
  std::string reason;
};

// The method's errors on published steps of a strategy, given their step of one device; of
// "single" on steps of one device that are described alone.
struct PublishedStanding {
  std::string strategy;
  int beyond = 0;        // of steps on more devices than these, those of a node
  bool is_like = false;  // on systems with the GPU that is projected; else on all others
  bool has_rows = true;  // false: no published step has the options that are projected
  int systems = 0;
  int steps = 0;
  double mean = 0;  // of |projected / published - 1|
  double most = 0;
  double half_width = 0;  // on logs, of as many devices as those steps had, or fewer
  int most_devices = 0;   // that those steps had
};

// A projection onto described hardware, beside its steps.
struct Decisions {
  std::string gpu;                            // its kind, "A100 SXM4"
  std::string machine{};                      // in words, "dgx-a100 (8 A100 SXM4 80GB)"
  std::string options{};                      // that no published step has, ", accumulate=4"
  std::string precision{};                    // in words, "fp32"
  std::vector<PublishedStanding> standing{};  // of dp and ddp, and of single if it is described
  bool knows_single_step = false;             // the step of one device is given, not described
  bool lists_kernels = true;                  // false: products of as many FLOPs stand for layers
  bool has_whole_batches = false;             // batches are asked for over all devices, not of each
};

struct Projection {
  std::string source;                // what was measured, a folder
  std::vector<std::string> basis{};  // what operations and transfers rest on, a line each
  std::vector<HeldOutCell> held_out{};
  std::vector<ProjectedCell> cells{};
  std::vector<NotProjected> left_out{};  // measured and other cells that could not be simulated
  int most_measured = 1;                 // devices of the largest cell held out
  std::optional<double> half_width{};    // on logs, of cells with as many devices
  std::optional<Decisions> decisions{};  // where nothing was measured
  std::string fits{};                    // the largest batches that fit into memory, in words
};

// Fills in the half width from the held-out cells, and the interval of each projected cell.
void add_intervals(Projection& projection);

// Fills in the intervals from errors on published steps, and drops errors that no step has. The
// projection has decisions.
void add_published_intervals(Projection& projection);

// The step with its interval; of several devices with that of the step of one as well, where that
// is described.
[[nodiscard]] stats::Estimate step_of(const ProjectedCell& cell, const Projection& projection);

// Samples per second over those of `single` on one device, in as many micro-batches, on the same
// samples of a device, or on the same batch where these are asked for over all devices; nothing
// where that step is not there.
[[nodiscard]] std::optional<stats::Estimate> speed_over_one_device(const ProjectedCell& cell,
                                                                   const Projection& projection);

// The speed of the first cell over the second, with the interval of errors that are taken as
// independent.
[[nodiscard]] stats::Estimate speed_over(const ProjectedCell& cell, const ProjectedCell& other);

// The cell of a strategy at the point of another cell: the same model, batch, micro-batches,
// devices and question; nullptr where there is none.
[[nodiscard]] const ProjectedCell* cell_beside(const ProjectedCell& cell, std::string_view strategy,
                                               const std::vector<ProjectedCell>& cells);

}  // namespace tandem::reports
