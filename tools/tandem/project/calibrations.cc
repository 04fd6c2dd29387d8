// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/project/calibrations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <optional>

#include "common/base/error.h"
#include "common/json/parse.h"
#include "common/results/files.h"
#include "reports/model/subject.h"
#include "simulate/catalogue/description.h"
#include "simulate/cost/calibration.h"
#include "tools/tandem/launch/launch_command.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/child_reason.h"
#include "tools/tandem/report/source_document.h"

namespace tandem::cli {
namespace {

constexpr std::chrono::minutes kPatience{10};

std::vector<std::string> command_for(const std::filesystem::path& file,
                                     const std::string& precision, const std::string& model,
                                     const std::set<std::int64_t>& batches,
                                     const CalibrationTask& task) {
  const auto found = task.model_files.find(model);
  return {task.step_bench.string(),
          "calibrate",
          "--file=" + file.string(),
          "--backend=" + task.backend,
          "--model=" + (found == task.model_files.end() ? model : found->second),
          "--precision=" + precision,
          fmt::format("--batches={}", fmt::join(batches, ","))};
}

// One launch of step_bench calibrate.
struct CalibrationLaunch {
  const std::string& model;
  const std::set<std::int64_t>& batches;
  int round = 1;
};

void calibrate_once(const std::filesystem::path& file, const std::string& precision,
                    const CalibrationLaunch& launch, const CalibrationTask& task,
                    const Interrupts& interrupts) {
  const std::string what =
      fmt::format("timing the operations of {} at batches {}, launch {} of {}", launch.model,
                  fmt::join(launch.batches, ", "), launch.round, task.launches);
  fmt::print(stderr, "{}\n", what);
  const ChildResult child =
      run_child({.arguments = command_for(file, precision, launch.model, launch.batches, task),
                 .environment = launch_environment(),
                 .log = task.logs / "calibration.log",
                 .timeout = kPatience},
                interrupts);
  if (child.has_exited(0)) return;
  if (child.end == ChildResult::End::kInterrupted) throw Interrupted(what);
  fail(child.has_exited(kUsageExit) ? ErrorKind::kUsage : ErrorKind::kFailure, "{}",
       reason_of(child, what, kPatience));
}

// How often each batch of a model was timed.
std::map<std::int64_t, int> launches_by_batch(const JsonValue& model) {
  std::map<std::int64_t, int> counts;
  for (const JsonValue& launch : model.elements()) {
    for (const JsonValue& batch : launch.at("batches").elements()) {
      ++counts[batch.at("batch").whole(1, std::int64_t{1} << 32)];
    }
  }
  return counts;
}

}  // namespace

std::map<std::string, CalibratedModels> needed_calibrations(
    const std::vector<results::Cell>& cells) {
  std::map<std::string, CalibratedModels> needed;
  for (const results::Cell& cell : cells) {
    needed[reports::precision_of(cell)][cell.model].insert(cell.global_batch / cell.devices);
  }
  return needed;
}

CalibratedModels missing_in(const std::filesystem::path& file, const CalibratedModels& models,
                            int launches) {
  CalibratedModels missing = models;
  if (!std::filesystem::exists(file)) return missing;
  return as_input([&] {
    const auto json = object_in(results::read_file(file), file.string());
    if (!json || !json->root().has("models")) {
      fail(ErrorKind::kUsage, "reading {}: it is no calibration; remove it", file.string());
    }
    for (auto& [model, batches] : missing) {
      const auto found = json->root().at("models").find(model);
      if (!found) continue;
      const std::map<std::int64_t, int> counts = launches_by_batch(*found);
      std::erase_if(batches, [&](std::int64_t batch) {
        const auto counted = counts.find(batch);
        return counted != counts.end() && counted->second >= launches;
      });
    }
    std::erase_if(missing, [](const auto& model) { return model.second.empty(); });
    return missing;
  });
}

void calibrate(const std::filesystem::path& file, const std::string& precision,
               const CalibratedModels& models, const CalibrationTask& task,
               const Interrupts& interrupts) {
  for (int round = 1; round <= task.launches; ++round) {
    for (const auto& [model, batches] : missing_in(file, models, round)) {
      calibrate_once(file, precision, {model, batches, round}, task, interrupts);
    }
  }
}

void write_hardware(const std::map<std::string, std::filesystem::path>& calibrations, int gpus,
                    const std::filesystem::path& file) {
  std::optional<HardwareDescription> machine;
  for (const auto& [precision, calibration] : calibrations) {
    const HardwareDescription measured = read_calibration(calibration.string()).hardware;
    if (!machine) machine = measured;
    if (precision == "fp32") machine->gpu.fp32 = measured.gpu.fp32;
    if (measured.gpu.tf32) machine->gpu.tf32 = measured.gpu.tf32;
    if (measured.gpu.bf16) machine->gpu.bf16 = measured.gpu.bf16;
  }
  machine->node.gpus = {gpus, "measured: the most devices of a cell"};
  results::replace_file(file, hardware_text(*machine));
}

}  // namespace tandem::cli
