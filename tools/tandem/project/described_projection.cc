// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/project/described_projection.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <set>
#include <utility>

#include "common/base/checksummed_file.h"
#include "common/base/dispatch_costs.h"
#include "common/base/error.h"
#include "common/base/units.h"
#include "common/hardware/catalogue.h"
#include "common/hardware/published_errors.h"
#include "common/options/values.h"
#include "common/results/files.h"
#include "reports/model/projection.h"
#include "reports/render/projection_text.h"
#include "tools/tandem/launch/launch_scratch.h"
#include "tools/tandem/launch/launcher.h"
#include "tools/tandem/launch/torch_module.h"
#include "tools/tandem/launch/torch_twin.h"
#include "tools/tandem/process/interrupts.h"
#include "tools/tandem/process/program_paths.h"
#include "tools/tandem/project/decisions.h"
#include "tools/tandem/project/described_machine.h"
#include "tools/tandem/project/projecting.h"
#include "tools/tandem/report/output_folder.h"

namespace tandem::cli {
namespace {

using results::Cell;
using results::LaunchRecord;

constexpr std::chrono::minutes kPatienceWithModule{10};
constexpr std::int64_t kExportedSamples = 2;  // with one, batch norms may refuse to train
constexpr std::int64_t kMostSamples = 1'000'000'000;
constexpr std::string_view kNoCosts = "off";

struct DescribedTask {
  const ProjectOptions& options;
  DescribedSteps steps{};
  std::vector<int> devices{};
  ProjectionPlace place{};
  std::unique_ptr<TemporaryFolder> scratch = std::make_unique<TemporaryFolder>();
};

void check_batches(std::string_view flag, const std::vector<std::int64_t>& sizes) {
  for (const std::int64_t size : sizes) {
    if (size >= 1 && size <= kMostSamples) continue;
    fail(ErrorKind::kUsage, "{}={}: use whole numbers from 1 to {}, such as 8,32", flag, size,
         kMostSamples);
  }
}

void check_asked(const ProjectOptions& options) {
  const std::string flag =
      options.module.empty() ? "--model=" + options.model : "--module=" + options.module;
  if (options.hardware.empty()) {
    fail(ErrorKind::kUsage,
         "{}: on which machine? add --hardware, such as --hardware=dgx-a100; tandem list hardware "
         "names them",
         flag);
  }
  if (options.shares.empty() == options.batches.empty()) {
    fail(
        ErrorKind::kUsage,
        "{}: on how many samples? give one of --batch-per-device, such as --batch-per-device=8,32, "
        "and --batch, over all devices",
        flag);
  }
  check_batches("--batch-per-device", options.shares);
  check_batches("--batch", options.batches);
  if (!options.link.empty()) {
    fail(ErrorKind::kUsage,
         "--link={}: the links are the hardware's; leave it out, or describe a machine of your own",
         options.link);
  }
  if (options.single_step.empty()) return;
  (void)parse_duration(options.single_step, "--single-step");
  if (options.shares.size() == 1) return;
  fail(ErrorKind::kUsage,
       "--single-step={}: it is of one batch of one device; give one --batch-per-device",
       options.single_step);
}

std::string costs_of(const ProjectOptions& options, const HardwareDescription& hardware) {
  if (options.dispatch_cost == kNoCosts) return "";
  if (options.dispatch_cost.empty()) return interpreter_costs(hardware.gpu.name).text;
  (void)parse_dispatch_costs(options.dispatch_cost, "--dispatch-cost");
  return options.dispatch_cost;
}

// The module's export, whose layers are known by their FLOPs.
std::string export_of(const DescribedTask& task) {
  const ProjectOptions& options = task.options;
  const TorchTwin torch =
      needed_torch_twin(options.torch.empty() ? "python3" : options.torch, {}, kUnmeasured);
  const std::filesystem::path file =
      task.scratch->path() / (short_name(options.module) + ".workload.json");
  const Interrupts interrupts;
  (void)facts_of_module(torch, absolute_source(options.module, {}),
                        {.batch = kExportedSamples,
                         .backend = "host",
                         .export_to = file,
                         .is_timed = false,
                         .patience = kPatienceWithModule},
                        interrupts);
  return file.string();
}

// The device counts that are asked for, or 1, 2, 4, ... up to the machine's.
std::vector<int> devices_of(const ProjectOptions& options) {
  if (!options.devices.empty()) return device_counts(options.devices);
  const std::int64_t all = gpus_of(find_hardware(options.hardware, "--hardware"));
  return device_counts(std::to_string(std::min<std::int64_t>(all, kMostProjectedDevices)));
}

DescribedTask task_of(const ProjectOptions& options) {
  DescribedTask task{.options = options};
  task.devices = devices_of(options);
  task.steps = {.machine = machine_for(options.hardware, task.devices.back()),
                .model = {},
                .precision = options.precision,
                .single_step = options.single_step,
                .costs = {},
                .bucket_mb = options.bucket_mb,
                .sizes = options.shares.empty() ? options.batches : options.shares,
                .has_whole_batches = options.shares.empty()};
  const HardwareDescription& hardware = task.steps.machine.hardware;
  check_precision(options.precision, task.steps.machine);
  task.steps.costs = costs_of(options, hardware);
  const std::set<std::int64_t> sizes(task.steps.sizes.begin(), task.steps.sizes.end());
  task.steps.sizes.assign(sizes.begin(), sizes.end());
  const std::string asked = options.module.empty() ? options.model : export_of(task);
  const std::string model = with_checksum(asked, "--model");
  task.steps.model = name_in_results(model);
  task.place = {
      .step_bench = find_step_bench(options.step_bench),
      .out = options.out.empty() ? new_folder("project") : std::filesystem::path(options.out),
      .command = options.command};
  if (model != task.steps.model || checksummed_file(model)) {
    task.place.model_files[task.steps.model] = model;
  }
  return task;
}

reports::PublishedStanding standing_of(const std::string& strategy, const std::string& gpu) {
  const auto like = errors_on_systems_with(strategy, gpu);
  const PublishedErrors others = errors_elsewhere(strategy);
  const PublishedErrors errors = like.value_or(others);
  const bool is_wider_elsewhere =
      errors.steps < reports::kFewestForNinety && others.half_width > errors.half_width;
  const PublishedErrors& of_width = is_wider_elsewhere ? others : errors;
  return {.strategy = strategy,
          .is_like = like.has_value(),
          .systems = errors.systems,
          .steps = errors.steps,
          .mean = errors.mean,
          .most = errors.most,
          .half_width = of_width.half_width,
          .most_devices = of_width.most_devices};
}

reports::Decisions decisions_of(const DescribedTask& task) {
  const GpuDescription& described = task.steps.machine.hardware.gpu;
  const std::string& gpu = described.name;
  reports::Decisions decisions{.gpu = std::string(kind_of_gpu(gpu)),
                               .precision = precision_text(task.options.precision, described),
                               .standing = {standing_of("dp", gpu), standing_of("ddp", gpu)},
                               .knows_single_step = !task.options.single_step.empty(),
                               .has_whole_batches = task.steps.has_whole_batches};
  if (!decisions.knows_single_step) decisions.standing.push_back(standing_of("single", gpu));
  return decisions;
}

std::string costs_line(const DescribedTask& task) {
  if (task.steps.costs.empty()) return "interpreter: none, by --dispatch-cost=off";
  if (!task.options.dispatch_cost.empty()) return "interpreter: costs as --dispatch-cost says";
  const InterpreterCosts costs = interpreter_costs(task.steps.machine.hardware.gpu.name);
  return fmt::format(
      "interpreter: {:.2f} times the costs measured on pretended devices, {}; --dispatch-cost=off "
      "leaves them out",
      costs.factor, origin_of(costs));
}

std::vector<std::string> basis_of(const DescribedTask& task,
                                  const std::vector<LaunchRecord>& launches) {
  std::vector<std::string> basis;
  for (const std::string& line : basis_lines(launches)) {
    const bool is_told_below = line.starts_with("dispatch cost") || line == "interpreter lock";
    if (!is_told_below) basis.push_back(line);
  }
  if (task.options.single_step.empty()) basis.push_back(described_operations());
  basis.push_back(costs_line(task));
  const int gpus = task.steps.machine.hardware.node.gpus.value;
  if (task.devices.back() > gpus) {
    basis.push_back(
        fmt::format("dp is one process on one node, so that it ends at {} devices", gpus));
  }
  return basis;
}

// The answer's folder with the module's export.
void write(const DescribedTask& task, const reports::Projection& projection,
           std::vector<LaunchRecord> launches) {
  write_projection(projection, {}, std::move(launches), task.place);
  if (task.options.module.empty()) return;
  for (const auto& [name, file] : task.place.model_files) {
    const std::filesystem::path from = file.substr(0, file.rfind('#'));
    results::replace_file(task.place.out / from.filename(), results::read_file(from));
  }
}

}  // namespace

int project_described(const ProjectOptions& options) {
  check_asked(options);
  const DescribedTask task = task_of(options);
  const Interrupts interrupts;
  check_options_of(described_cell(task.steps, "ddp", 1, task.steps.sizes.front()), task.place,
                   interrupts);
  const Launcher launcher = projecting_launcher(task.place, task.scratch->path(), interrupts);
  StepSimulator simulator(launcher);
  reports::Projection projection{.source = task.steps.model};
  projection.decisions = decisions_of(task);
  std::vector<LaunchRecord> launches =
      project_on(projection, described_cells(task.steps, task.devices), simulator);
  if (projection.cells.empty()) {
    fail(ErrorKind::kFailure, "no step could be simulated: {}", projection.left_out.front().reason);
  }
  reports::add_published_intervals(projection);
  add_steps_without_costs(projection, task.steps, simulator);
  add_changes(projection, task.steps, simulator);
  add_least_batches(projection, task.steps, task.devices, simulator);
  projection.basis = basis_of(task, launches);
  write(task, projection, std::move(launches));
  fmt::print("{}\n{}\n", reports::to_text(projection, {}),
             (task.place.out / "projection.md").string());
  return 0;
}

}  // namespace tandem::cli
