// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/base/checksummed_file.h"
#include "common/base/dispatch_costs.h"
#include "common/base/error.h"
#include "common/base/text.h"
#include "common/base/units.h"
#include "common/options/strategies.h"
#include "common/options/values.h"
#include "common/results/files.h"
#include "reports/model/projection.h"
#include "reports/render/formats.h"
#include "simulate/catalogue/catalogue.h"
#include "simulate/catalogue/description.h"
#include "simulate/catalogue/published_errors.h"
#include "tools/tandem/launch/launch_scratch.h"
#include "tools/tandem/launch/launcher.h"
#include "tools/tandem/launch/torch_twin.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/program_paths.h"
#include "tools/tandem/project/project_command.h"
#include "tools/tandem/project/projecting.h"
#include "tools/tandem/report/output_folder.h"

namespace tandem::cli {
namespace {

using enum options::StrategyKind;
using results::Cell;
using results::LaunchRecord;

constexpr std::chrono::minutes kPatienceWithModule{10};
constexpr std::int64_t kExportedSamples = 2;  // with one, batch norms may refuse to train
constexpr std::int64_t kMostSamples = 1'000'000'000;
constexpr std::string_view kNoCosts = "off";

// The machine, with as many nodes as the devices need.
struct DescribedMachine {
  std::string name;  // as --hardware takes it
  HardwareDescription hardware;
};

constexpr std::string_view kAnyNetwork = "eth-25g";

// What a GPU may have, of the precisions of steps.
std::vector<std::string> precisions_of(const GpuDescription& gpu) {
  std::vector<std::string> names{"fp32"};
  if (gpu.tf32) names.emplace_back("tf32");
  if (gpu.bf16) names.emplace_back("bf16");
  return names;
}

// A machine of so many devices, in the words of a refusal.
std::string larger_machine(const std::string& asked, const HardwareDescription& hardware,
                           int devices) {
  if (is_hardware_file(asked)) return "describe a network of more nodes in the file";
  // "dgx-a100x4@8xib-200g" is a node, a count and a network.
  const std::size_t at = asked.find('@');
  const bool is_node = at == std::string::npos;
  const std::string network = is_node ? usual_network(asked) : asked.substr(at + 1);
  const int gpus = hardware.node.gpus.value;
  return fmt::format("name a machine of more nodes, such as --hardware={}x{}@{}",
                     is_node ? asked : asked.substr(0, asked.rfind('x', at)),
                     (devices + gpus - 1) / gpus, network.empty() ? kAnyNetwork : network);
}

// The GPUs of all nodes.
std::int64_t gpus_of(const HardwareDescription& hardware) {
  return std::int64_t{hardware.node.gpus.value} * hardware.nodes();
}

// The machine that `asked` names, for so many devices. Throws usage errors: an unknown name, with
// the nearest one; more devices than there are, where no network is the node's usual one.
DescribedMachine machine_for(const std::string& asked, int most_devices) {
  DescribedMachine machine{.name = asked, .hardware = find_hardware(asked, "--hardware")};
  const std::int64_t gpus = gpus_of(machine.hardware);
  if (most_devices <= gpus) return machine;
  const std::string network = machine.hardware.network ? "" : usual_network(asked);
  if (network.empty()) {
    fail(ErrorKind::kUsage, "--devices={}: {} has {}: take no more, or {}", most_devices, asked,
         count_text(gpus, "GPU"), larger_machine(asked, machine.hardware, most_devices));
  }
  machine.name = fmt::format("{}x{}@{}", asked, (most_devices + gpus - 1) / gpus, network);
  machine.hardware = catalogued_hardware(machine.name, "--hardware");
  return machine;
}

// Throws a usage error that says what there is, where no step is in that precision or the machine's
// GPU lacks it.
void check_precision(const std::string& precision, const DescribedMachine& machine) {
  const GpuDescription& gpu = machine.hardware.gpu;
  const std::vector<std::string> known = precisions_of(gpu);
  if (precision.empty() || std::ranges::find(known, precision) != known.end()) return;
  if (precision != "tf32" && precision != "bf16") {
    fail(ErrorKind::kUsage, "--precision={}: {}; {} has {}", precision,
         precision == "fp16" ? "no step in fp16, with its gradient scaler, is simulated"
                             : "there is no such precision",
         machine.name, fmt::join(known, ", "));
  }
  fail(ErrorKind::kUsage,
       "--precision={0}: the GPU of {1}, {2}, has no {0}, only {3}{4}; use one of these, or a "
       "machine whose GPU has {0}, such as dgx-a100",
       precision, machine.name, gpu.name, fmt::join(known, ", "),
       gpu.fp16 ? " (and fp16, in which no step is simulated)" : "");
}

// The precision of all steps in words.
std::string precision_text(const std::string& precision, const GpuDescription& gpu) {
  if (!precision.empty() && precision != "fp32") return precision;
  return gpu.tf32 ? "fp32 (convolutions in tf32, torch's default)" : "fp32";
}

// What all cells of the projection have in common.
struct DescribedSteps {
  DescribedMachine machine;
  std::string model;        // as in cells
  std::string precision;    // empty: fp32
  std::string single_step;  // empty: as described
  std::string costs;        // of the interpreter; empty: none
  std::vector<std::string> bucket_mb{};
  std::vector<std::int64_t> sizes{};  // the batches, ascending: samples of a device, or of all
  bool has_whole_batches = false;     // of all

  [[nodiscard]] std::int64_t batch_of(std::int64_t size, int on_devices) const {
    return has_whole_batches ? size : size * on_devices;
  }
};

// A step of a strategy on a batch of all devices. dp's threads share one interpreter, whose lock is
// modelled with its costs.
Cell described_cell(const DescribedSteps& steps, std::string_view strategy, int devices,
                    std::int64_t batch) {
  const bool is_dp = strategy == name_of(kDp);
  const bool is_in_threads = is_dp || strategy == name_of(kSingle);
  Cell cell{
      .strategy = std::string(strategy),
      .launch = to_string(is_in_threads ? options::Launch::kThreads : options::Launch::kProcesses),
      .model = steps.model,
      .backend = std::string(results::kSimulated),
      .devices = devices,
      .global_batch = batch,
      .options = {{"hardware", steps.machine.name}}};
  if (!steps.precision.empty() && steps.precision != "fp32") {
    cell.options["precision"] = steps.precision;
  }
  if (!steps.single_step.empty()) cell.options["single-step"] = steps.single_step;
  if (steps.costs.empty()) return cell;
  cell.options["dispatch-cost"] = steps.costs;
  if (is_dp) cell.options["interpreter-lock"] = "on";
  return cell;
}

// single on one device; dp, ddp (in each bucket size) and the bound on each larger count, dp on
// those of one node alone; for each size of a batch.
std::vector<Cell> described_cells(const DescribedSteps& steps, const std::vector<int>& devices) {
  std::vector<Cell> cells;
  const auto add = [&](options::StrategyKind kind, int count, std::int64_t size) {
    cells.push_back(described_cell(steps, name_of(kind), count, steps.batch_of(size, count)));
  };
  for (const std::int64_t size : steps.sizes) {
    add(kSingle, 1, size);
    for (const int count : devices) {
      if (count == 1) continue;
      if (count <= steps.machine.hardware.node.gpus.value) add(kDp, count, size);
      add(kDdp, count, size);
      for (const std::string& bucket : steps.bucket_mb) {
        add(kDdp, count, size);
        cells.back().options["bucket-mb"] = bucket;
      }
      add(kIndependent, count, size);
    }
  }
  return cells;
}

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

// The line that stands with them where operations are described: by what such a step errs.
std::string described_operations() {
  const PublishedErrors errors = errors_elsewhere("single");
  return fmt::format(
      "operations: described alone, by a roofline, which errs by {:.0f} % on average, by {:.0f} % "
      "at most on {} published steps of one GPU of ResNet-50 and BERT-large that nothing was "
      "fitted to: the interval of such a step, divided and multiplied by {:.2f}, holds nine in ten "
      "like them, and other models, such as small MLPs and GPT-2, may lie outside",
      100 * errors.mean, 100 * errors.most, errors.steps, std::exp(errors.half_width));
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

// Throws a usage error where step_bench refuses the cell's model or options, before anything is
// timed or written.
void check_options_of(const Cell& cell, const ProjectionPlace& place,
                      const Interrupts& interrupts) {
  constexpr std::string_view kProgram = "step_bench: ";  // begins its errors
  const TemporaryFolder scratch;
  const Launcher asking = projecting_launcher(place, scratch.path(), interrupts);
  std::string refusal = asking.refusal_of(cell, Check::kOptions);
  if (refusal.starts_with(kProgram)) refusal.erase(0, kProgram.size());
  if (!refusal.empty()) fail(ErrorKind::kUsage, "{}", refusal);
}

// The step of each projected cell without the interpreter's costs.
void add_steps_without_costs(reports::Projection& projection, const DescribedSteps& steps,
                             StepSimulator& simulator) {
  if (steps.costs.empty()) return;
  for (reports::ProjectedCell& cell : projection.cells) {
    Cell bare = cell.cell;
    for (const char* cost : {"dispatch-cost", "interpreter-lock"}) bare.options.erase(cost);
    bare.options["hardware"] = steps.machine.name;  // records name it with a checksum
    const double seconds = step_seconds(simulator.step(bare));
    if (seconds > 0) cell.without_costs = seconds;
  }
}

// The answer's folder with the module's export.
void write(const DescribedTask& task, const reports::Projection& projection,
           std::vector<LaunchRecord> launches) {
  write_projection(projection, std::move(launches), task.place);
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
  projection.basis = basis_of(task, launches);
  write(task, projection, std::move(launches));
  fmt::print("{}\n{}\n", reports::to_terminal(projection),
             (task.place.out / "projection.md").string());
  return 0;
}

}  // namespace tandem::cli
