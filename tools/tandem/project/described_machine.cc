// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/project/described_machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "common/base/error.h"
#include "common/base/text.h"
#include "common/hardware/catalogue.h"
#include "common/options/strategies.h"

namespace tandem::cli {
namespace {

using enum options::StrategyKind;
using results::Cell;

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
  const auto [node, network] = node_and_network(asked);
  const int gpus = hardware.node.gpus.value;
  return fmt::format("name a machine of more nodes, such as --hardware={}x{}@{}", node,
                     (devices + gpus - 1) / gpus, network.empty() ? kAnyNetwork : network);
}

}  // namespace

std::int64_t gpus_of(const HardwareDescription& hardware) {
  return std::int64_t{hardware.node.gpus.value} * hardware.nodes();
}

NodeAndNetwork node_and_network(const std::string& name) {
  const std::size_t at = name.find('@');
  if (at == std::string::npos) return {name, usual_network(name)};
  return {name.substr(0, name.rfind('x', at)), name.substr(at + 1)};
}

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

std::string precision_text(const std::string& precision, const GpuDescription& gpu) {
  if (!precision.empty() && precision != "fp32") return precision;
  return gpu.tf32 ? "fp32 (convolutions in tf32, torch's default)" : "fp32";
}

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

}  // namespace tandem::cli
