// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <regex>
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
#include "common/options/rules.h"
#include "common/options/strategies.h"
#include "common/results/files.h"
#include "reports/model/projection.h"
#include "reports/render/formats.h"
#include "simulate/catalogue/catalogue.h"
#include "simulate/catalogue/description.h"
#include "simulate/catalogue/published_errors.h"
#include "tools/tandem/launch/launcher.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/program_paths.h"
#include "tools/tandem/project/described_task.h"
#include "tools/tandem/project/step_memory.h"
#include "tools/tandem/report/output_folder.h"

namespace tandem::cli {
namespace {

using enum options::StrategyKind;
using results::Cell;
using results::LaunchRecord;

constexpr std::int64_t kMostSamples = 1'000'000'000;
constexpr const char* kCapacity = "device-memory";
constexpr const char* kAnyCapacity = "1000000GiB";

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
  cell.options[kCapacity] = kAnyCapacity;  // peaks_of() says what fits
  if (!steps.single_step.empty()) cell.options["single-step"] = steps.single_step;
  for (const auto& [name, value] : steps.more) {
    if (options::has_option(strategy, *options::find_option(name))) cell.options[name] = value;
  }
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
      if (steps.has_dp() && count <= steps.machine.hardware.node.gpus.value) add(kDp, count, size);
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
  if (options.shares.empty() && options.batches.empty()) {
    fail(ErrorKind::kUsage,
         "{}: on how many samples? give --batch-per-device, such as --batch-per-device=8,32, or "
         "--batch, over all devices",
         flag);
  }
  if (!options.shares.empty() && !options.batches.empty()) {
    fail(ErrorKind::kUsage,
         "--batch={}: --batch-per-device={} says how many samples a device has; leave one of them "
         "out",
         fmt::join(options.batches, ","), fmt::join(options.shares, ","));
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

std::map<std::string, std::string> more_options(const ProjectOptions& options) {
  std::map<std::string, std::string> named{{"accumulate", options.accumulate},
                                           {"compress", options.compress}};
  std::erase_if(named, [](const auto& option) {
    return option.second.empty() ||
           option.second == options::find_option(option.first)->value.usual;
  });
  return named;
}

// Throws a usage error where micro-batches of a device's samples are not equal. Devices that do not
// divide a batch are left out later.
void check_micro_batches(const DescribedTask& task) {
  const auto pieces = parse_number<std::int64_t>(task.options.accumulate);
  if (!pieces) return;
  for (const Cell& cell : described_cells(task.steps, task.devices)) {
    const std::int64_t share = cell.global_batch / cell.devices;
    if (cell.global_batch % cell.devices != 0 || share % *pieces == 0) continue;
    const bool is_whole = task.steps.has_whole_batches;
    fail(ErrorKind::kUsage,
         "--accumulate={0}: it cuts a device's samples into equal micro-batches, which {1} are "
         "not{2}; give a multiple of {3}",
         *pieces, share,
         is_whole ? fmt::format(" (--batch={} on {})", cell.global_batch,
                                count_text(cell.devices, "device"))
                  : "",
         is_whole ? *pieces * cell.devices : *pieces);
  }
}

// Whether a workload file lists kernels, which have types of their own.
bool lists_kernels(const std::string& model) {
  static const std::regex kKernels("\"kernels\"\\s*:");
  const auto file = checksummed_file(model);
  return file && std::regex_search(text_of(*file, "--model"), kKernels);
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
                .precision = options.precision,
                .single_step = options.single_step,
                .more = more_options(options),
                .bucket_mb = options.bucket_mb,
                .sizes = options.shares.empty() ? options.batches : options.shares,
                .has_whole_batches = options.shares.empty()};
  const HardwareDescription& hardware = task.steps.machine.hardware;
  const bool is_of_module = !options.module.empty();
  check_precision(options.precision, task.steps.machine, is_of_module);
  task.has_own_types = lists_kernels(options.model);
  task.lists_kernels = task.has_own_types || !checksummed_file(options.model);
  if (!options.precision.empty() && task.has_own_types) {
    fail(ErrorKind::kUsage, "--precision={}: {} lists kernels in types of their own; leave it out",
         options.precision, options.model);
  }
  task.steps.costs = costs_of(options, hardware);
  const std::set<std::int64_t> sizes(task.steps.sizes.begin(), task.steps.sizes.end());
  task.steps.sizes.assign(sizes.begin(), sizes.end());
  check_micro_batches(task);
  if (is_of_module) {
    task.module = listed_module(task);
    task.steps.precision.clear();
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

// A simulated step like the cell's, of so many samples of a device, without options of time. ddp's
// memory is the same on any devices.
const LaunchRecord& bare_step(const DescribedSteps& steps, const Cell& cell, std::int64_t samples,
                              StepSimulator& simulator) {
  DescribedSteps bare = steps;
  bare.single_step.clear();
  bare.costs.clear();
  bare.more.clear();
  const bool is_alone = cell.devices == 1 || cell.strategy == name_of(kIndependent);
  const int on = is_alone ? 1 : cell.strategy == name_of(kDdp) ? 2 : cell.devices;
  Cell like = described_cell(bare, is_alone ? name_of(kSingle) : cell.strategy, on, samples * on);
  if (const auto bucket = cell.option("bucket-mb"); !bucket.empty() && !is_alone) {
    like.options["bucket-mb"] = bucket;
  }
  return simulator.step(like);
}

// The peaks of memory in a step of the cell: torch's own of a module, else those of simulated
// steps.
StepPeaks peaks_of(const DescribedTask& task, const Cell& cell, StepSimulator& simulator) {
  const auto step = [&](std::int64_t samples) -> const LaunchRecord& {
    return bare_step(task.steps, cell, samples, simulator);
  };
  const bool has_own = task.module && task.module->facts.peak_bytes > 0;
  StepPeaks peaks = has_own ? peaks_of_module(task.module->facts, cell.strategy, cell.devices)
                            : peaks_of_steps(step(1), step(2));
  // A device holds what one micro-batch needs, and torch's hook a bucket in half precision.
  const auto pieces = parse_number<std::int64_t>(cell.option("accumulate", "1"));
  std::int64_t bucket = 0;
  if (!cell.option("compress").empty()) {
    for (const auto& one : step(1).collectives) bucket = std::max(bucket, one.bytes);
  }
  for (DevicePeak& peak : peaks) {
    peak.pieces = pieces.value_or(1);
    peak.constant += static_cast<double>(bucket) / 2;
  }
  return peaks;
}

// The cells that fit into the described GPU; the others are left out of the projection.
std::vector<Cell> fitting_cells(reports::Projection& projection, const DescribedTask& task,
                                StepSimulator& simulator) {
  std::vector<Cell> cells;
  for (Cell& cell : described_cells(task.steps, task.devices)) {
    std::string reason =
        why_not_fitting(peaks_of(task, cell, simulator), share_of(cell), cell.devices,
                        task.steps.machine.hardware.gpu.memory.value);
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
    return peaks_of(task, described_cell(task.steps, name_of(kind), devices, devices), simulator);
  };
  const auto most_text = [memory](const StepPeaks& of) {
    return std::to_string(most_samples(of, memory));
  };
  const StepPeaks one = peaks(kSingle, 1);
  if (most_samples(one, memory) == kAnySamples) {
    return fmt::format(
        "Largest batch that fits {}: not known, for both batches that were tried have one peak.",
        to_string(memory));
  }
  std::string words = fmt::format("Largest batch that fits {}: {} samples on one device",
                                  to_string(memory), most_text(one));
  const int most = task.devices.back();
  if (most == 1) return words + ".";
  const int on_node = std::min(most, hardware.node.gpus.value);
  if (on_node > 1 && task.steps.has_dp()) {
    const StepPeaks dp = peaks(kDp, on_node);
    words += fmt::format("; with dp on {}, {} on each", on_node, most_text(dp));
    if (dp.size() > 1) {
      words += fmt::format(" (device 0 holds {}, the others would hold {})",
                           most_text({dp.front()}), most_text({dp.back()}));
    }
  }
  std::int64_t ddp = kAnySamples;
  for (const Cell& cell : described_cells(task.steps, {most})) {
    if (cell.strategy != name_of(kDdp)) continue;
    ddp = std::min(ddp, most_samples(peaks_of(task, cell, simulator), memory));
  }
  return fmt::format("{}; with ddp {} on each{}.", words, ddp,
                     task.steps.bucket_mb.empty() ? "" : " in buckets of any of these sizes");
}

// The memory that the answer goes by, in place of the simulation's own.
void enter_peaks(std::vector<LaunchRecord>& launches, const DescribedTask& task,
                 reports::Projection& projection, StepSimulator& simulator) {
  for (reports::ProjectedCell& cell : projection.cells) cell.cell.options.erase(kCapacity);
  for (reports::NotProjected& left : projection.left_out) left.cell.options.erase(kCapacity);
  for (LaunchRecord& record : launches) {
    record.cell.options.erase(kCapacity);
    const StepPeaks peaks = peaks_of(task, record.cell, simulator);
    if (peaks.empty()) continue;
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
  const std::string& model = task.steps.model;
  reports::Projection projection{.source = options.module.empty() ? model.substr(0, model.find('#'))
                                                                  : options.module};
  std::vector<LaunchRecord> launches =
      project_on(projection, fitting_cells(projection, task, simulator), simulator);
  if (projection.cells.empty()) {
    fail(ErrorKind::kFailure, "no step could be simulated: {}", projection.left_out.front().reason);
  }
  projection.decisions = decisions_of(task, launches);
  const auto too_large = std::ranges::count_if(projection.left_out, [](const auto& cell) {
    return cell.reason.starts_with("out of memory");
  });
  projection.fits = fitting_batches(task, simulator);
  if (too_large > 0) {
    projection.fits += fmt::format(" {} out of memory: left out.", count_text(too_large, "step"));
  }
  reports::add_published_intervals(projection);
  enter_peaks(launches, task, projection, simulator);
  projection.basis = basis_of(task, launches);
  if (!task.lists_kernels) {
    projection.basis.push_back("! " + projection.source +
                               " lists no kernels: products of as many FLOPs stand for its layers, "
                               "mostly quicker than these, and no step like that was measured");
  }
  write(task, projection, std::move(launches));
  fmt::print("{}{}\n", reports::to_terminal(projection, reports::screen(options.has_details)),
             (task.place.out / "projection.md").string());
  return 0;
}

}  // namespace tandem::cli
