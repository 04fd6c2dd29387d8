// SPDX-License-Identifier: Apache-2.0
//
// Tables of cells and their comparisons, and what tables of points begin with: a model, a batch and
// a number of devices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/results/launch_record.h"
#include "reports/model/summary.h"
#include "reports/text/table.h"

namespace tandem::reports {

// A table of these columns behind those of a point.
[[nodiscard]] TextTable table_of_points(const std::vector<std::string>& titles,
                                        const char* devices = ">devices");

// Adds a row to that table: the cell's point, then `fields`.
void add_point(TextTable& table, const results::Cell& cell, const std::vector<std::string>& fields);

// A row per cell: workload, devices, strategy, launches, median step, throughput, speed-up and
// efficiency against `single`, and the cell's marks.
[[nodiscard]] TextTable cell_table(const Summary& summary);

// A row per point at which dp and ddp both measured.
[[nodiscard]] TextTable comparison_table(const Summary& summary);

// A row per measured cell with phase times, a column per phase: mean milliseconds and, in
// brackets, their share of the mean step.
[[nodiscard]] TextTable phase_table(const Summary& summary);

// The peak bytes of each device, the most over the cell's launches; empty where no launch reports
// peaks.
[[nodiscard]] std::vector<std::int64_t> peak_memory(const CellSummary& cell);

// The peak of device 0 over the mean peak of the other devices: 1 where the root bears no more than
// the others. Absent for one device, and where the other devices have no peaks.
[[nodiscard]] std::optional<double> root_burden(const std::vector<std::int64_t>& peaks);

// A row per cell whose GPUs have energy counters: that of a step and of a sample, of all GPUs
// together.
[[nodiscard]] TextTable energy_table(const Summary& summary);

// A row per measured cell of several devices: peak memory of device 0 and of the others.
[[nodiscard]] TextTable memory_table(const Summary& summary);

}  // namespace tandem::reports
