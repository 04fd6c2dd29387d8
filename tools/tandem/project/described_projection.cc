// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <optional>
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
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/program_paths.h"
#include "tools/tandem/project/described_machine.h"
#include "tools/tandem/project/module_listing.h"
#include "tools/tandem/project/project_command.h"
#include "tools/tandem/project/projecting.h"
#include "tools/tandem/project/step_memory.h"
#include "tools/tandem/report/output_folder.h"
#include "tools/tandem/report/screen.h"

namespace tandem::cli {
namespace {

using enum options::StrategyKind;
using results::Cell;
using results::LaunchRecord;

constexpr std::int64_t kMostSamples = 1'000'000'000;
constexpr const char* kCapacity = "device-memory";
constexpr const char* kAnyCapacity = "1000000GiB";

// The precision of all steps in words.
std::string precision_text(const std::string& precision, bool has_tf32) {
  if (!precision.empty() && precision != "fp32") return precision;
  return has_tf32 ? "fp32 (convolutions in tf32, torch's default)" : "fp32";
}

// What all cells of the projection have in common.
struct DescribedSteps {
  DescribedMachine machine;
  std::string model;        // as in cells
  std::string precision;    // empty: fp32, or as the module's kernels are listed
  std::string single_step;  // empty: as described
  std::string costs;        // of the interpreter; empty: none
  std::map<std::string, std::string> of_ddp{};  // more options of ddp's cells
  std::vector<std::string> bucket_mb{};
  std::vector<std::int64_t> sizes{};  // the batches, ascending: samples of a device, or of all
  bool has_whole_batches = false;     // of all
  bool has_own_peaks = false;         // torch's, so that the simulation need not count memory

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
  if (steps.has_own_peaks) cell.options[kCapacity] = kAnyCapacity;
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
    if (kind == kDdp) cells.back().options.insert(steps.of_ddp.begin(), steps.of_ddp.end());
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
  std::optional<ListedModule> module{};
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
  if (options.dispatch_cost == "off") return "";
  if (options.dispatch_cost.empty()) return interpreter_costs(hardware.gpu.name).text;
  (void)parse_dispatch_costs(options.dispatch_cost, "--dispatch-cost");
  return options.dispatch_cost;
}

// The most samples of a device.
std::int64_t share_of(const Cell& cell) {
  return (cell.global_batch + cell.devices - 1) / cell.devices;
}

// The fewest samples that a forward of these steps gets; the last device's are what is left.
std::int64_t fewest_samples(const std::vector<Cell>& cells) {
  std::int64_t fewest = kMostSamples;
  for (const Cell& cell : cells) {
    const std::int64_t last = (cell.global_batch - 1) % share_of(cell) + 1;
    const auto pieces = parse_number<int>(cell.option("accumulate"));
    fewest = std::min(fewest, std::max<std::int64_t>(last / pieces.value_or(1), 1));
  }
  return fewest;
}

// The module's kernels, which are those of any batch.
ListedModule listed_module(const DescribedTask& task) {
  const ProjectOptions& options = task.options;
  return list_module({.source = options.module,
                      .torch = options.torch.empty() ? "python3" : options.torch,
                      .precision = options.precision,
                      .batch = fewest_samples(described_cells(task.steps, task.devices)),
                      .gpu = task.steps.machine.hardware.gpu},
                     task.scratch->path());
}

std::map<std::string, std::string> of_ddp(const ProjectOptions& options) {
  std::map<std::string, std::string> named;
  if (!options.accumulate.empty()) named["accumulate"] = options.accumulate;
  if (!options.compress.empty()) named["compress"] = options.compress;
  return named;
}

// The device counts that are asked for, or 1, 2, 4, ... up to the machine's.
std::vector<int> devices_of(const ProjectOptions& options) {
  if (!options.devices.empty()) return device_counts(options.devices);
  const auto asked = gpus_asked_for(options.hardware);
  const std::int64_t all = asked ? *asked : gpus_of(find_hardware(options.hardware, "--hardware"));
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
                .of_ddp = of_ddp(options),
                .bucket_mb = options.bucket_mb,
                .sizes = options.shares.empty() ? options.batches : options.shares,
                .has_whole_batches = options.shares.empty()};
  const HardwareDescription& hardware = task.steps.machine.hardware;
  const bool is_of_module = !options.module.empty();
  check_precision(options.precision, task.steps.machine, is_of_module);
  task.steps.costs = costs_of(options, hardware);
  const std::set<std::int64_t> sizes(task.steps.sizes.begin(), task.steps.sizes.end());
  task.steps.sizes.assign(sizes.begin(), sizes.end());
  if (is_of_module) {
    task.module = listed_module(task);
    task.steps.precision.clear();
    task.steps.has_own_peaks = task.module->facts.peak_bytes > 0;
  }
  const std::string model =
      with_checksum(is_of_module ? task.module->file.string() : options.model, "--model");
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
  const bool has_tf32 = described.tf32 && (!task.module || task.module->facts.has_tf32);
  reports::Decisions decisions{.gpu = std::string(kind_of_gpu(gpu)),
                               .precision = precision_text(task.options.precision, has_tf32),
                               .standing = {standing_of("dp", gpu), standing_of("ddp", gpu)},
                               .knows_single_step = !task.options.single_step.empty(),
                               .has_whole_batches = task.steps.has_whole_batches};
  const int of_node = task.steps.machine.hardware.node.gpus.value;
  if (task.devices.back() > of_node) {
    decisions.standing.push_back(standing_of("ddp-nodes", gpu));
    decisions.standing.back().strategy = "ddp";
    decisions.standing.back().beyond = of_node;
  }
  if (!decisions.knows_single_step) {
    decisions.standing.push_back(standing_of("listed", gpu));
    decisions.standing.back().strategy = "single";
  }
  return decisions;
}

// By what a step errs whose kernels are priced one by one.
std::string described_operations(const std::string& gpu) {
  const auto like = errors_on_systems_with("listed", gpu);
  const PublishedErrors errors = like.value_or(errors_elsewhere("listed"));
  return fmt::format(
      "operations: a time for each kernel of PyTorch's step, by constants that err by {:.0f} % on "
      "average, by {:.0f} "
      "% at most, on {} measured steps of models {}: the interval of a step, divided and "
      "multiplied by {:.2f}, holds nine in ten",
      100 * errors.mean, 100 * errors.most, errors.steps,
      like ? "that they were not fitted to, on such a GPU" : "on GPUs that they were not fitted to",
      std::exp(errors.half_width));
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
  if (task.module) {
    const std::vector<std::string> of_module = basis_of(*task.module);
    basis.insert(basis.end(), of_module.begin(), of_module.end());
  }
  if (task.options.single_step.empty()) {
    basis.push_back(described_operations(task.steps.machine.hardware.gpu.name));
  }
  basis.push_back(costs_line(task));
  const int gpus = task.steps.machine.hardware.node.gpus.value;
  if (task.devices.back() > gpus) {
    basis.push_back(
        fmt::format("dp is one process on one node, so that it ends at {} devices", gpus));
  }
  return basis;
}

// The peaks of memory in simulated steps of the strategy. ddp's are the same on any devices.
StepPeaks simulated_peaks(const DescribedSteps& steps, const std::string& strategy, int devices,
                          StepSimulator& simulator) {
  DescribedSteps bare = steps;
  bare.single_step.clear();
  bare.costs.clear();
  bare.has_own_peaks = true;  // no step is out of memory
  const bool is_alone = devices == 1 || strategy == name_of(kIndependent);
  const int on = is_alone ? 1 : strategy == name_of(kDdp) ? 2 : devices;
  const auto step = [&](std::int64_t samples) {
    return simulator.step(
        described_cell(bare, is_alone ? name_of(kSingle) : strategy, on, samples * on));
  };
  return peaks_of_steps(step(1), step(2));
}

// The peaks of memory in a step of the strategy: torch's own of a module, else those of simulated
// steps.
StepPeaks peaks_of(const DescribedTask& task, const std::string& strategy, int devices,
                   StepSimulator& simulator) {
  StepPeaks peaks;
  if (task.steps.has_own_peaks) {
    peaks = peaks_of_module(task.module->facts, strategy, devices);
  } else {
    peaks = simulated_peaks(task.steps, strategy, devices, simulator);
  }
  // A rank of ddp holds what one micro-batch needs.
  const auto micro_batches = parse_number<int>(task.options.accumulate);
  for (DevicePeak& peak : peaks) {
    if (strategy == name_of(kDdp) && micro_batches) peak.sample /= *micro_batches;
  }
  return peaks;
}

// The cells that fit into the described GPU; the others are left out of the projection.
std::vector<Cell> fitting_cells(reports::Projection& projection, const DescribedTask& task,
                                StepSimulator& simulator) {
  std::vector<Cell> cells;
  for (Cell& cell : described_cells(task.steps, task.devices)) {
    std::string reason =
        why_not_fitting(peaks_of(task, cell.strategy, cell.devices, simulator), share_of(cell),
                        cell.devices, task.steps.machine.hardware.gpu.memory.value);
    if (reason.empty()) {
      cells.push_back(std::move(cell));
    } else {
      projection.left_out.push_back({std::move(cell), std::move(reason)});
    }
  }
  return cells;
}

// "Largest batch that fits 80 GiB: 900 samples on one device; with dp on 8, 870 on each (..); ..".
std::string fitting_batches(const DescribedTask& task, StepSimulator& simulator) {
  const HardwareDescription& hardware = task.steps.machine.hardware;
  const Bytes memory = hardware.gpu.memory.value;
  const auto peaks = [&](options::StrategyKind kind, int devices) {
    return peaks_of(task, std::string(name_of(kind)), devices, simulator);
  };
  std::string words = fmt::format("Largest batch that fits {}: {} on one device", to_string(memory),
                                  count_text(most_samples(peaks(kSingle, 1), memory), "sample"));
  const int most = task.devices.back();
  if (most == 1) return words + ".";
  const int on_node = std::min(most, hardware.node.gpus.value);
  if (on_node > 1) {
    const StepPeaks dp = peaks(kDp, on_node);
    words += fmt::format("; with dp on {}, {} on each", on_node, most_samples(dp, memory));
    if (dp.size() > 1) {
      words += fmt::format(" (device 0 {}, others {})", dp.front().most_samples(memory),
                           dp.back().most_samples(memory));
    }
  }
  return fmt::format("{}; with ddp {} on each.", words, most_samples(peaks(kDdp, most), memory));
}

// Figures of torch's own are in place of the simulation's.
void enter_peaks(std::vector<LaunchRecord>& launches, const DescribedTask& task,
                 reports::Projection& projection) {
  for (reports::ProjectedCell& cell : projection.cells) cell.cell.options.erase(kCapacity);
  for (LaunchRecord& record : launches) {
    if (record.cell.options.erase(kCapacity) == 0) continue;
    const StepPeaks peaks =
        peaks_of_module(task.module->facts, record.cell.strategy, record.cell.devices);
    for (results::DeviceMemory& memory : record.memory) {
      const DevicePeak& peak = &memory == &record.memory.front() ? peaks.front() : peaks.back();
      memory.capacity_bytes = task.steps.machine.hardware.gpu.memory.value.value;
      memory.peak_bytes = peak.tensors(share_of(record.cell)).value;
    }
  }
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
    if (steps.has_own_peaks) bare.options[kCapacity] = kAnyCapacity;
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
      project_on(projection, fitting_cells(projection, task, simulator), simulator);
  if (projection.cells.empty()) {
    fail(ErrorKind::kFailure, "no step could be simulated: {}", projection.left_out.front().reason);
  }
  const auto too_large = std::ranges::count_if(projection.left_out, [](const auto& cell) {
    return cell.reason.starts_with("out of memory");
  });
  projection.fits = fitting_batches(task, simulator);
  if (too_large > 0) {
    projection.fits += fmt::format(" {} out of memory: left out.", count_text(too_large, "step"));
  }
  reports::add_published_intervals(projection);
  add_steps_without_costs(projection, task.steps, simulator);
  enter_peaks(launches, task, projection);
  projection.basis = basis_of(task, launches);
  write(task, projection, std::move(launches));
  fmt::print("{}{}\n", reports::to_terminal(projection, screen(options.has_details)),
             (task.place.out / "projection.md").string());
  return 0;
}

}  // namespace tandem::cli
