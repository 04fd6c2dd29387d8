// SPDX-License-Identifier: Apache-2.0
//
// A projection: how well measured cells are predicted, and what follows for cells that nobody
// measured.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/results/launch_record.h"
#include "reports/model/hold_out.h"
#include "reports/model/summary.h"

namespace tandem::reports {

// The highest peak of a device's memory, measured and simulated.
struct HeldOutMemory {
  results::Cell cell;
  std::int64_t measured = 0;
  std::int64_t simulated = 0;
};

// A projected cell. Without a hold-out there is no interval.
struct ProjectedCell {
  results::Cell cell;                        // of back end "simulated"
  double seconds = 0;                        // of a step
  std::map<std::string, double> rests_on{};  // LaunchRecord::rests_on
  std::optional<stats::Interval> interval{};
  std::optional<double> without_costs{};  // the step without the interpreter's costs
};

// The shares of a critical path by what they rest on alone, whatever they are of: "measured",
// "interpolated", "scaled", "described", and those of "host" and "waiting"; 0 where there is none.
inline constexpr auto kPathBases = std::to_array<std::string_view>(
    {"measured", "interpolated", "scaled", "described", "host", "waiting"});
[[nodiscard]] std::array<double, kPathBases.size()> path_by_basis(
    const std::map<std::string, double>& rests_on);

struct NotProjected {
  results::Cell cell;
  std::string reason;
};

// What the method errs by on published steps of a strategy, given their step of one device; of
// "single" on steps of one device that are described alone.
struct PublishedStanding {
  std::string strategy;
  bool is_like = false;  // on systems with the GPU that is projected; else on all others
  int systems = 0;
  int steps = 0;
  double mean = 0;  // of |projected / published - 1|
  double most = 0;
  double half_width = 0;  // on logs, of as many devices as those steps had, or fewer
  int most_devices = 0;   // that those steps had
};

// What a projection onto described hardware says beside its steps.
struct Decisions {
  std::string gpu;                            // its kind, "A100 SXM4"
  std::string precision{};                    // in words, "fp32"
  std::vector<PublishedStanding> standing{};  // of dp and ddp, and of single if it is described
  bool knows_single_step = false;             // the step of one device is given, not described
  bool has_whole_batches = false;             // batches are asked for over all devices, not of each
};

struct Projection {
  std::string source;                // what was measured, a folder
  std::vector<std::string> basis{};  // what operations and transfers rest on, a line each
  std::vector<HeldOut> held_out{};
  std::vector<HeldOutMemory> memory{};
  std::vector<ProjectedCell> cells{};
  std::vector<NotProjected> left_out{};  // measured and other cells that could not be simulated
  int most_measured = 1;                 // devices of the largest cell held out
  std::optional<double> half_width{};    // on logs, of cells with as many devices
  std::optional<Decisions> decisions{};  // where nothing was measured
};

// How often dp against ddp is told right: over pairs of held-out cells of one point whose measured
// difference is resolved and beyond `least`.
struct SignsTold {
  int right = 0;
  int pairs = 0;
};

// `comparisons` are those of the summary whose cells were held out.
[[nodiscard]] SignsTold signs_told(const std::vector<HeldOut>& rows,
                                   const std::vector<StrategyPair>& comparisons,
                                   double least = 0.05);

// |simulated / measured - 1| of the peak.
[[nodiscard]] double memory_error(const HeldOutMemory& row);

// The row whose peak of memory errs most; nullptr without rows.
[[nodiscard]] const HeldOutMemory* worst_memory(const std::vector<HeldOutMemory>& memory);

// Fills in the half width from the held-out cells, and the interval of each projected cell.
void add_intervals(Projection& projection);

// Fills in the intervals from errors on published steps. The projection has decisions.
void add_published_intervals(Projection& projection);

// Samples per second over those of `single` on one device, on the same samples of a device, or on
// the same batch where these are asked for over all devices; nothing where that step is not there.
[[nodiscard]] std::optional<stats::Estimate> speed_over_one_device(const ProjectedCell& cell,
                                                                   const Projection& projection);

// The speed of the first cell over the second, with the interval of errors that are taken as
// independent.
[[nodiscard]] stats::Estimate speed_over(const ProjectedCell& cell, const ProjectedCell& other);

// The cell of a strategy at the point of another cell: the same model, batch, devices and question;
// nullptr where there is none.
[[nodiscard]] const ProjectedCell* cell_beside(const ProjectedCell& cell, std::string_view strategy,
                                               const std::vector<ProjectedCell>& cells);

}  // namespace tandem::reports
