// SPDX-License-Identifier: Apache-2.0
//
// The tables of a report, and what tables of points begin with: a model, a batch and a number of
// devices.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/results/document.h"
#include "common/results/launch_record.h"
#include "reports/model/summary.h"
#include "reports/text/section_words.h"
#include "reports/text/table.h"

namespace tandem::reports {

// A row per cell: workload, devices, strategy, launches, median step, throughput, speed-up and
// efficiency against `single`, and the cell's marks.
[[nodiscard]] TextTable cell_table(const Summary& summary);

// A row per point at which dp and ddp both measured.
[[nodiscard]] TextTable comparison_table(const Summary& summary);

// A row per measured cell with phase times, a column per phase: mean milliseconds and, in
// brackets, their share of the mean step.
[[nodiscard]] TextTable phase_table(const Summary& summary);

// A row per cell that was measured step by step and free-running: both mean steps, and the cost of
// a synchronous step's barrier and wait, 1 - free / synchronous.
[[nodiscard]] TextTable mode_table(const Summary& summary);

// The peak bytes of each device, the most over the cell's launches; empty where no launch tells
// peaks.
[[nodiscard]] std::vector<std::int64_t> peak_memory(const CellSummary& cell);

// The peak of device 0 over the mean peak of the other devices: 1 where the root bears no more than
// the others. Absent for one device, and where the other devices have no peaks.
[[nodiscard]] std::optional<double> root_burden(const std::vector<std::int64_t>& peaks);

// A row per cell whose GPUs told their energy: that of a step and of a sample, of all GPUs
// together.
[[nodiscard]] TextTable energy_table(const Summary& summary);

// A row per measured cell of several devices.
[[nodiscard]] TextTable memory_table(const Summary& summary);

// A row per result of communication_times().
[[nodiscard]] TextTable collective_table(const Summary& summary);

// A row per cost; no rows without costs.
[[nodiscard]] TextTable ddp_cost_table(const Summary& summary);

// A row per part of the host's work and cell of PyTorch's on pretended GPUs, then one per kind of
// thread: wall time, the thread's CPU time, its wait for a core, and the rest, which is the wait
// for the interpreter's lock or another thread. Means over launches; no rows where no launch tells.
[[nodiscard]] TextTable host_work_table(const Summary& summary);

// A row per entry of another program: the program, the entry's name, time and other figures, or the
// reason for missing figures.
[[nodiscard]] TextTable other_figures_table(const results::Document& document);

// The rows are the sources of copies, the columns the destinations: "412.5 (6.1 us)". No rows where
// nothing was measured.
[[nodiscard]] TextTable link_table(const results::LinkMatrix& links);

// How the links' figures were measured, or why there are none.
[[nodiscard]] std::string link_note(const results::LinkMatrix& links);

// A table of these columns behind those of a point.
[[nodiscard]] TextTable table_of_points(const std::vector<std::string>& titles,
                                        const char* devices = ">devices");

// Adds a row to that table: the cell's point, then `fields`.
void add_point(TextTable& table, const results::Cell& cell, const std::vector<std::string>& fields);

// How far the phases account for the steps, and whether numbers were checked.
[[nodiscard]] std::vector<std::string> trust_lines(const Summary& summary);

// A line per reason for which the sweep left cells out: "not measured: 3 cells: single is one
// device".
[[nodiscard]] std::vector<std::string> dropped_lines(const results::SweepInfo& sweep);

// A row per cell that has no figure: its name, its outcome and the reason.
[[nodiscard]] TextTable failures_table(const Summary& summary);

// The commands that repeat the measurement and compare the results; a comment names what the
// document does not tell.
[[nodiscard]] std::vector<std::string> reproduce_commands(const results::SweepInfo& sweep);

// The median step of one cell over that of another.
struct StepRatio {
  const CellSummary* of = nullptr;
  const CellSummary* over = nullptr;
  stats::Estimate ratio;
};

// Every cell of another implementation over Tandem's own, where both measured, in the order of the
// cells: above 1 Tandem is faster.
[[nodiscard]] std::vector<StepRatio> twins_of(const Summary& summary);

// The cost of a wrapper without communication: ddp or dp on one device over single, of each
// implementation, Tandem among them; empty where there is only one implementation.
[[nodiscard]] std::vector<StepRatio> wrapper_costs(const Summary& summary);

// The table's heading: of both sides, or of the wrappers' costs where there is one side.
[[nodiscard]] const Heading& twin_heading(const Summary& summary);

// How to read the table, and the differences between both sides of the measured cells.
[[nodiscard]] std::string twin_note(const Summary& summary);

// The twins and the wrapper costs; no rows where no other implementation measured.
[[nodiscard]] TextTable twin_table(const Summary& summary);

}  // namespace tandem::reports
