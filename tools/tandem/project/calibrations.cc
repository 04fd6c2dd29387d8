// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/project/calibrations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <utility>

#include "common/base/error.h"
#include "common/results/files.h"
#include "reports/model/subject.h"
#include "tools/tandem/launch/launch_command.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/child_reason.h"

namespace tandem::cli {
namespace {

constexpr std::chrono::minutes kPatience{10};

std::vector<std::string> command_for(const std::filesystem::path& file,
                                     const std::string& precision, const std::string& model,
                                     const std::set<std::int64_t>& batches,
                                     const CalibrationTask& task) {
  const auto found = task.model_files.find(model);
  return {task.step_bench.string(),
          "--calibrate=" + file.string(),
          "--backend=" + task.backend,
          "--model=" + (found == task.model_files.end() ? model : found->second),
          "--precision=" + precision,
          fmt::format("--calibrate-batches={}", fmt::join(batches, ","))};
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

void calibrate(const std::filesystem::path& file, const std::string& precision,
               const CalibratedModels& models, const CalibrationTask& task,
               const Interrupts& interrupts) {
  const std::filesystem::path fresh = file.parent_path() / ("new-" + file.filename().string());
  results::remove_all(fresh);
  for (const auto& [model, batches] : models) {
    const std::string what =
        fmt::format("timing the operations of {} at batches {}", model, fmt::join(batches, ", "));
    fmt::print(stderr, "{}\n", what);
    const ChildResult child =
        run_child({.arguments = command_for(fresh, precision, model, batches, task),
                   .environment = launch_environment(),
                   .log = task.logs / "calibration.log",
                   .timeout = kPatience},
                  interrupts);
    if (child.has_exited(0)) continue;
    results::remove_all(fresh);
    if (child.end == ChildResult::End::kInterrupted) throw Interrupted(what);
    fail(child.has_exited(kUsageExit) ? ErrorKind::kUsage : ErrorKind::kFailure, "{}",
         reason_of(child, what, kPatience));
  }
  std::filesystem::rename(fresh, file);
}

}  // namespace tandem::cli
