// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/project/project_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "common/base/error.h"
#include "common/options/strategies.h"
#include "common/options/values.h"
#include "common/results/document.h"
#include "common/results/files.h"
#include "reports/model/projection.h"
#include "reports/model/subject.h"
#include "reports/model/summary.h"
#include "reports/render/formats.h"
#include "tools/tandem/launch/launcher.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/program_paths.h"
#include "tools/tandem/project/calibrations.h"
#include "tools/tandem/project/projecting.h"
#include "tools/tandem/report/output_folder.h"
#include "tools/tandem/report/source_document.h"
#include "tools/tandem/run/measuring.h"

namespace tandem::cli {
namespace {

using enum options::StrategyKind;
using reports::CellSummary;
using results::Cell;
using results::LaunchRecord;
using results::Status;

constexpr std::string_view kUsualDevices = "8";

// What was measured, and what is asked of it.
struct ProjectTask {
  const ProjectOptions& options;
  const results::Document& document;
  std::vector<const CellSummary*> measured{};  // the cells to hold out
  ProjectionPlace place{};
};

// Options of a machine that is there, which a simulated one does not have.
constexpr std::array kOfThisMachine{"bind", "gpus", "gpu-wait", "oversubscribe", "peak-gflops"};

bool is_projected_strategy(const Cell& cell) {
  return cell.strategy == options::name_of(kDp) || cell.strategy == options::name_of(kDdp);
}

// The cell with each of the asked-for bucket sizes, where it has buckets.
std::vector<Cell> with_buckets(const Cell& cell, const std::vector<std::string>& sizes) {
  if (sizes.empty() || cell.strategy != options::name_of(kDdp)) return {cell};
  std::vector<Cell> cells;
  for (const std::string& size : sizes) {
    cells.push_back(cell);
    cells.back().options["bucket-mb"] = size;
  }
  return cells;
}

// The files that operations and transfers of simulated cells take their times from, by precision.
using Calibrations = std::map<std::string, std::filesystem::path>;

// The measured cell as a simulated one: the same strategy, devices, batch and options, with the
// calibration of its precision in the options.
Cell simulated_cell(const Cell& measured, const Calibrations& calibrations) {
  Cell cell = measured;
  cell.backend = results::kSimulated;
  for (const char* option : kOfThisMachine) cell.options.erase(option);
  const auto calibration = calibrations.find(reports::precision_of(measured));
  if (calibration != calibrations.end()) {
    cell.options["calibration"] = calibration->second.string();
  }
  return cell;
}

// The cells of a summary that are held out: Tandem's own, measured, without a planted delay and on
// a core or GPU of its own each, on two devices or more that exchange something. `independent` is
// left out, as errors of what exchanges nothing would make the others' look small.
std::vector<const CellSummary*> cells_to_hold_out(const reports::Summary& summary) {
  std::vector<const CellSummary*> cells;
  for (const CellSummary& cell : summary.cells) {
    const bool counts = cell.launches > 0 && cell.cell.devices > 1 && cell.planted.empty() &&
                        !cell.oversubscribed &&
                        cell.cell.strategy != options::name_of(kIndependent) &&
                        !cell.cell.is_pretended() && !cell.cell.is_simulated() &&
                        reports::implementation_of(cell.cell).empty();
    if (counts) cells.push_back(&cell);
  }
  return cells;
}

// dp and ddp of each measured cell on the asked-for devices, each once.
std::vector<Cell> cells_to_project(const ProjectTask& task) {
  const ProjectOptions& asked = task.options;
  std::vector<Cell> cells;
  std::set<std::string> seen;
  for (const CellSummary* const summary : task.measured) {
    const Cell& measured = summary->cell;
    if (!is_projected_strategy(measured)) continue;
    std::vector<std::int64_t> shares = asked.shares;
    if (shares.empty()) shares = {measured.global_batch / measured.devices};
    for (Cell cell : with_buckets(measured, asked.bucket_mb)) {
      for (const std::int64_t share : shares) {
        for (const int devices :
             device_counts(asked.devices.empty() ? kUsualDevices : asked.devices)) {
          cell.devices = devices;
          cell.global_batch = share * devices;
          if (seen.insert(cell.name()).second) cells.push_back(cell);
        }
      }
    }
  }
  return cells;
}

// Files of models lie beside the measurements, where run has put them.
ModelFiles model_files_in(const std::filesystem::path& folder,
                          const std::vector<const CellSummary*>& cells) {
  ModelFiles files;
  for (const CellSummary* const cell : cells) {
    const std::string& model = cell->cell.model;
    const std::filesystem::path file = folder / model.substr(0, model.find('#'));
    if (model.find('#') != std::string::npos && std::filesystem::exists(file)) {
      files[model] = (folder / model).string();
    }
  }
  return files;
}

void check_on_this_machine(const ProjectTask& task) {
  const auto other =
      other_fact(task.document.sweep, measuring_context("project", task.place.step_bench),
                 {"tandem_cpu_model", "tandem_cores"});
  if (!other) return;
  fail(ErrorKind::kUsage,
       "project {}: its cells were measured on another machine ({} '{}', here '{}'), so "
       "their operations cannot be timed here",
       task.options.source, other->name, other->then, other->now);
}

std::vector<Cell> cells_of(const std::vector<const CellSummary*>& summaries) {
  std::vector<Cell> cells;
  for (const CellSummary* const summary : summaries) cells.push_back(summary->cell);
  return cells;
}

// The calibrations of the output folder; what no file there has is timed now.
Calibrations calibrations_of(const ProjectTask& task, const std::vector<Cell>& cells,
                             const Interrupts& interrupts) {
  Calibrations calibrations;
  const int launches = task.options.launches.value_or(kUsualCalibrationLaunches);
  for (const auto& [precision, models] : needed_calibrations(cells)) {
    const std::filesystem::path file = task.place.out / ("calibration-" + precision + ".json");
    const CalibratedModels missing = missing_in(file, models, launches);
    if (!missing.empty()) {
      check_on_this_machine(task);
      const OutputFolder out(task.place.out);
      calibrate(file, precision, models,
                {.step_bench = task.place.step_bench,
                 .backend = task.measured.front()->cell.backend,
                 .model_files = task.place.model_files,
                 .launches = launches,
                 .logs = out.logs()},
                interrupts);
    }
    calibrations[precision] = file;
  }
  return calibrations;
}

std::vector<Cell> simulated_cells(const std::vector<Cell>& cells,
                                  const Calibrations& calibrations) {
  std::vector<Cell> simulated;
  for (const Cell& cell : cells) simulated.push_back(simulated_cell(cell, calibrations));
  return simulated;
}

void hold_out(reports::Projection& projection, const ProjectTask& task,
              const Calibrations& calibrations, StepSimulator& simulator) {
  const std::vector<Cell> cells = cells_of(task.measured);
  const std::vector<LaunchRecord> simulated = simulator.steps(simulated_cells(cells, calibrations));
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const LaunchRecord& record = simulated[i];
    if (record.status != Status::kOk) {
      projection.left_out.push_back({cells[i], record.reason});
      continue;
    }
    projection.held_out.push_back({.cell = cells[i],
                                   .measured = task.measured[i]->median_step,
                                   .projected_seconds = step_seconds(record)});
  }
}

// Throws a usage error unless one thing is to be projected, with options that are of it.
void check_subject(const ProjectOptions& options) {
  const int given = static_cast<int>(!options.source.empty()) +
                    static_cast<int>(!options.model.empty()) +
                    static_cast<int>(!options.module.empty());
  if (given != 1) {
    fail(ErrorKind::kUsage,
         "project: give one of FOLDER (of tandem run), --model and --module, such as tandem "
         "project --model=resnet50 --hardware=dgx-a100 --batch-per-device=32");
  }
  const bool is_of_described = options.source.empty();
  for (const auto& [flag, value] : {std::pair{"--precision", &options.precision},
                                    {"--single-step", &options.single_step},
                                    {"--dispatch-cost", &options.dispatch_cost},
                                    {"--accumulate", &options.accumulate},
                                    {"--compress", &options.compress},
                                    {"--with-torch", &options.torch}}) {
    if (is_of_described || value->empty()) continue;
    fail(ErrorKind::kUsage, "{}={}: a FOLDER's cells have their own; leave it out", flag, *value);
  }
  if (!is_of_described && !options.hardware.empty()) {
    fail(ErrorKind::kUsage,
         "--hardware={}: a FOLDER is projected onto the machine that it was measured on; give "
         "--model or --module in its place",
         options.hardware);
  }
  if (!is_of_described && !options.batches.empty()) {
    fail(ErrorKind::kUsage,
         "--batch={}: a FOLDER's cells are projected by the samples of a device; give "
         "--batch-per-device in its place",
         fmt::join(options.batches, ","));
  }
  if (is_of_described && options.launches) {
    fail(ErrorKind::kUsage, "--launches={}: described operations are not timed; leave it out",
         *options.launches);
  }
}

void check_options(const ProjectOptions& options) {
  for (const std::string& size : options.bucket_mb) options::check_form("bucket-mb", size);
  if (!options.accumulate.empty()) options::check_form("accumulate", options.accumulate);
  if (!options.compress.empty()) options::check_form("compress", options.compress);
}

// Operations of one back end say nothing about another's.
void check_one_backend_in(const ProjectTask& task) {
  const std::string& first = task.measured.front()->cell.backend;
  for (const CellSummary* const cell : task.measured) {
    if (cell->cell.backend == first) continue;
    fail(ErrorKind::kUsage,
         "project {}: it has cells of the back ends {} and {}, whose errors say nothing of "
         "each other; project a run of one",
         task.options.source, first, cell->cell.backend);
  }
}

int most_devices(const std::vector<const CellSummary*>& cells) {
  return (*std::ranges::max_element(
              cells, {}, [](const CellSummary* summary) { return summary->cell.devices; }))
      ->cell.devices;
}

int run(const ProjectTask& task) {
  const Interrupts interrupts;
  const std::vector<Cell> beyond = cells_to_project(task);
  std::vector<Cell> all = cells_of(task.measured);
  all.insert(all.end(), beyond.begin(), beyond.end());
  const Calibrations calibrations = calibrations_of(task, all, interrupts);
  const OutputFolder out(task.place.out);
  const Launcher launcher = projecting_launcher(task.place, out.logs(), interrupts);
  StepSimulator simulator(launcher);
  reports::Projection projection{.source = task.options.source};
  hold_out(projection, task, calibrations, simulator);
  std::vector<LaunchRecord> launches =
      project_on(projection, simulated_cells(beyond, calibrations), simulator);
  std::ranges::copy(basis_lines(launches), std::back_inserter(projection.basis));
  projection.basis.emplace_back(
      "more devices than were measured: each is assumed to be as fast as these beside others at "
      "work, with caches and bandwidth of memory of its own");
  reports::add_intervals(projection);
  fmt::print("{}", reports::to_terminal(projection, reports::screen(task.options.has_details)));
  write_projection(projection, std::move(launches), task.place);
  const std::filesystem::path machine = task.place.out / "hardware.json";
  write_hardware(calibrations, most_devices(task.measured), machine);
  fmt::print("this machine, for --hardware here and elsewhere: {}\n", machine.string());
  fmt::print("{}\n", (task.place.out / "projection.md").string());
  return projection.cells.empty() && projection.held_out.empty() ? 1 : 0;
}

}  // namespace

int project(const ProjectOptions& options) {
  check_not_a_rank("project");
  check_subject(options);
  check_options(options);
  if (options.source.empty()) return project_described(options);
  const results::Document document = load_document(options.source);
  const reports::Summary summary = reports::summarize(document);
  ProjectTask task{.options = options, .document = document};
  task.measured = cells_to_hold_out(summary);
  if (task.measured.empty()) {
    fail(ErrorKind::kUsage,
         "project {}: no cell of two devices or more was measured there, so nothing can be "
         "held out; measure one, such as tandem run quick",
         options.source);
  }
  const std::filesystem::path folder = std::filesystem::is_directory(options.source)
                                           ? std::filesystem::path(options.source)
                                           : std::filesystem::path(options.source).parent_path();
  check_one_backend_in(task);
  task.place.step_bench = find_step_bench(options.step_bench);
  task.place.out = options.out.empty() ? folder / "projected" : std::filesystem::path(options.out);
  task.place.model_files = model_files_in(folder, task.measured);
  task.place.command = options.command;
  return run(task);
}

}  // namespace tandem::cli
