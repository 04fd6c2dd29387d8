// SPDX-License-Identifier: Apache-2.0
//
// A calibration: what operations, copies and collectives took on a machine, so that a simulation
// needs no description of that machine. A file holds one machine and one precision, and any number
// of models.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/base/units.h"
#include "simulate/catalogue/description.h"

namespace tandem {

// The times of operations with the same work, FLOPs and bytes, in one step.
struct MeasuredPoint {
  std::int64_t batch = 0;  // of the step; 0: measured apart from steps
  double flops = 0;
  std::int64_t bytes = 0;
  std::vector<double> seconds{};  // by order of occurrence in the step
  // The same while the machine's other devices did the same; absent where devices share nothing.
  std::optional<std::vector<double>> beside_others{};
};

// Times by key: an operation's name with its shape, but for the batch.
using MeasuredOperations = std::map<std::string, std::vector<MeasuredPoint>>;

// The step of `single` at one batch, to which its operations' times add up in one launch.
struct MeasuredBatch {
  std::int64_t batch = 0;
  double step_seconds = 0;   // median
  double lower_seconds = 0;  // quartiles of the steps
  double upper_seconds = 0;
  int steps = 0;
  // The median while the other devices did the same; absent as above.
  std::optional<double> beside_others{};
};

struct MeasuredModel {
  std::vector<MeasuredBatch> batches{};  // in ascending order
  MeasuredOperations operations{};
};

// A collective by its bytes: of cores the work that each rank's core does while it lasts, of GPUs
// its time.
struct MeasuredCollective {
  std::string name;  // "all_reduce"
  int ranks = 0;
  std::int64_t bytes = 0;
  double seconds = 0;
};

// What was measured, where and with what.
struct CalibrationOrigin {
  std::string fingerprint;  // of the machine: another machine has another one
  std::string backend;
  std::string precision;
  std::string built_by;
  std::string built_from;
  std::string time;  // when the file was written last, UTC
};

struct MachineCalibration {
  CalibrationOrigin origin;
  // The machine as a description (simulate/catalogue/description.h) has it, and the text of that.
  HardwareDescription hardware;
  std::string hardware_text;
  MeasuredOperations sizes;  // by name alone, of any model, at a few sizes
  std::vector<MeasuredCollective> collectives;
  // By the model's name, each launch that timed its steps. Launches differ by several per cent,
  // however long they are, so that several say more than a long one.
  std::map<std::string, std::vector<MeasuredModel>> models;
};

// Reads a calibration's text; `source` begins every error. Throws a usage error of one line, which
// names the key.
[[nodiscard]] MachineCalibration parse_calibration(std::string_view text,
                                                   const std::string& source);

// The calibration in a file, or in a file with the checksum that it must have, "own.json#0123...".
[[nodiscard]] MachineCalibration read_calibration(const std::string& name);

// The text that parse_calibration() reads.
[[nodiscard]] std::string calibration_text(const MachineCalibration& calibration);

// Adds what one launch measured of a model at some batches: to the first launch that has none of
// these batches, else as a launch of its own.
void add_measured(std::vector<MeasuredModel>& launches, const MeasuredModel& measured);

// The medians over launches of each batch's figures and of each operation's times, by occurrence.
// `steps` are all launches' together.
[[nodiscard]] MeasuredModel pooled(const std::vector<MeasuredModel>& launches);

}  // namespace tandem
