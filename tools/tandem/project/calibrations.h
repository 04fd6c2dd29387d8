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
#include "tools/tandem/process/interrupts.h"
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
  std::filesystem::path logs;
};

// Times the models' operations on a device of this machine, into `file`, which must not exist; a
// file that is not finished is removed. Says what is timed. Throws a failure with step_bench's
// reason, and Interrupted.
void calibrate(const std::filesystem::path& file, const std::string& precision,
               const CalibratedModels& models, const CalibrationTask& task,
               const Interrupts& interrupts);

}  // namespace tandem::cli
