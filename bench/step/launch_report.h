// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "bench/job/job.h"
#include "bench/step/measurement.h"
#include "bench/step/step_options.h"
#include "bench/step/step_work.h"
#include "common/model/model.h"
#include "common/results/launch_record.h"

namespace tandem::bench {

// Writes each warning as a line on the standard error stream.
void warn(const std::vector<std::string>& warnings);

// Adds what every output of Google Benchmark says of a job of step_bench: the job, and how samples
// are taken.
void add_context(const Job& job, const StepOptions& options);

// The work that a step of the options asks of a device that updates, counted on the first device's
// share of the batch, or on its first micro-batch: a size that some models were measured at.
[[nodiscard]] StepWork step_work_of(const StepOptions& options, const Model& model);

// Google Benchmark's name for the cell that the options name.
[[nodiscard]] std::string benchmark_name(const StepOptions& options, Backend backend);

// The cell that the options name.
[[nodiscard]] results::Cell cell_of(const StepOptions& options, Backend backend);

// The machine as this launch sees it. Rank 0 measures the distance of the first two devices' cores
// while the other ranks wait.
[[nodiscard]] results::MachineFacts machine_of(const Job& job);

// The full record of a launch that was measured.
[[nodiscard]] results::LaunchRecord record_of(const StepOptions& options, const Job& job,
                                              const Model& model, const Measurement& measurement,
                                              const results::MachineFacts& machine);

// The record of a launch that did not fit, which is a result like any other.
[[nodiscard]] results::LaunchRecord out_of_memory_record(const StepOptions& options, const Job& job,
                                                         const Model& model, const Error& error,
                                                         const results::MachineFacts& machine);

}  // namespace tandem::bench
