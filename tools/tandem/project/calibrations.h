// SPDX-License-Identifier: Apache-2.0
//
// The calibrations that a projection needs: times of the operations of each model, per precision.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "common/results/launch_record.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/sweep/sweep.h"

namespace tandem::cli {

// The batches of one device at which the operations of each model are timed, by model, in one
// precision.
using CalibratedModels = std::map<std::string, std::set<std::int64_t>>;

// What cells need, by precision: the batch of each cell's device.
[[nodiscard]] std::map<std::string, CalibratedModels> needed_calibrations(
    const std::vector<results::Cell>& cells);

// How operations are timed.
struct CalibrationTask {
  std::filesystem::path step_bench;
  std::string backend;       // of the measured cells
  ModelFiles model_files{};  // the models that are files
  int launches = 1;          // of each model and batch
  std::filesystem::path logs;
};

// The part of `models` of which the calibration has fewer launches; all of it where there is no
// such file. Throws a usage error where the file is none of step_bench calibrate.
[[nodiscard]] CalibratedModels missing_in(const std::filesystem::path& file,
                                          const CalibratedModels& models, int launches);

// Times the operations of `models` on a device of this machine until `file` has the task's launches
// of each. Each launch of a model is kept at once; a round times every model once, so that what
// slows the machine for a while slows all of them alike. Says what is timed. Throws a failure with
// step_bench's reason, and Interrupted.
void calibrate(const std::filesystem::path& file, const std::string& precision,
               const CalibratedModels& models, const CalibrationTask& task,
               const Interrupts& interrupts);

// Describes the machine that the calibrations (by precision, one or more) were measured on in a
// file that --hardware takes: its figures from the first, peaks of further precisions from their
// own, and `gpus` devices. Without NCCL's channels, which nothing measures: collectives go by the
// links.
void write_hardware(const std::map<std::string, std::filesystem::path>& calibrations, int gpus,
                    const std::filesystem::path& file);

}  // namespace tandem::cli
