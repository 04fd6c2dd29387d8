// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/project/calibrations.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <utility>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/json/parse.h"
#include "common/results/files.h"
#include "reports/model/subject.h"
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

CalibratedModels missing_in(const std::filesystem::path& file, const CalibratedModels& models) {
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
      for (const JsonValue& batch : found->at("batches").elements()) {
        batches.erase(batch.at("batch").whole(1, std::int64_t{1} << 32));
      }
    }
    std::erase_if(missing, [](const auto& model) { return model.second.empty(); });
    return missing;
  });
}

void calibrate(const std::filesystem::path& file, const std::string& precision,
               const CalibratedModels& models, const CalibrationTask& task,
               const Interrupts& interrupts) {
  const std::filesystem::path fresh = file.parent_path() / ("new-" + file.filename().string());
  results::remove_all(fresh);
  if (std::filesystem::exists(file)) std::filesystem::copy_file(file, fresh);
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

reports::LinkFigures link_in(const std::filesystem::path& file) {
  const auto json = object_in(results::read_file(file), file.string());
  const auto hardware = json ? json->root().find("hardware") : std::nullopt;
  const auto link = hardware ? hardware->at("node").find("peer_link") : std::nullopt;
  if (!link) return {};
  const auto figure = [&](std::string_view key) { return link->at(key).at("value").text(); };
  const Nanoseconds latency = parse_duration(figure("latency"), "latency");
  return {.latency_seconds = Seconds(latency).count(),
          .bytes_per_second = parse_bandwidth(figure("bandwidth"), "bandwidth")};
}

}  // namespace tandem::cli
