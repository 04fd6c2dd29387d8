// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/project/described_machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "common/base/error.h"
#include "common/hardware/catalogue.h"
#include "common/options/strategies.h"

namespace tandem::cli {
namespace {

using enum options::StrategyKind;
using results::Cell;

std::int64_t gpus_of(const HardwareDescription& hardware) {
  return std::int64_t{hardware.node.gpus.value} * hardware.nodes();
}

std::vector<std::string> precisions_of(const GpuDescription& gpu) {
  std::vector<std::string> names{"fp32"};
  if (gpu.tf32) names.emplace_back("tf32");
  if (gpu.bf16) names.emplace_back("bf16");
  return names;
}

}  // namespace

DescribedMachine machine_for(const std::string& asked, int most_devices) {
  DescribedMachine machine{.name = asked, .hardware = find_hardware(asked, "--hardware")};
  const std::int64_t gpus = gpus_of(machine.hardware);
  if (most_devices <= gpus) return machine;
  const std::string network = machine.hardware.network ? "" : usual_network(asked);
  if (network.empty()) {
    fail(ErrorKind::kUsage,
         "--devices={}: {} has {} GPUs: take fewer, or name a machine of more nodes, such as "
         "--hardware=dgx-a100x8@8xib-200g",
         most_devices, asked, gpus);
  }
  machine.name = fmt::format("{}x{}@{}", asked, (most_devices + gpus - 1) / gpus, network);
  machine.hardware = catalogued_hardware(machine.name, "--hardware");
  return machine;
}

void check_precision(const std::string& precision, const HardwareDescription& hardware) {
  const std::vector<std::string> known = precisions_of(hardware.gpu);
  for (const std::string& name : known) {
    if (precision.empty() || precision == name) return;
  }
  fail(ErrorKind::kUsage, "--precision={}: the GPU {} has no such step; use one of {}", precision,
       hardware.gpu.name, fmt::join(known, ", "));
}

Cell described_cell(const DescribedSteps& steps, std::string_view strategy, int devices,
                    std::int64_t share) {
  const bool is_dp = strategy == name_of(kDp);
  const bool is_in_threads = is_dp || strategy == name_of(kSingle);
  Cell cell{
      .strategy = std::string(strategy),
      .launch = to_string(is_in_threads ? options::Launch::kThreads : options::Launch::kProcesses),
      .model = steps.model,
      .backend = std::string(results::kSimulated),
      .devices = devices,
      .global_batch = share * devices,
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

Cell without_costs(Cell cell) {
  cell.options.erase("dispatch-cost");
  cell.options.erase("interpreter-lock");
  return cell;
}

std::vector<Cell> described_cells(const DescribedSteps& steps, const std::vector<int>& devices,
                                  const std::vector<std::int64_t>& shares) {
  std::vector<Cell> cells;
  const auto add = [&](options::StrategyKind kind, int count, std::int64_t share) {
    cells.push_back(described_cell(steps, name_of(kind), count, share));
  };
  for (const std::int64_t share : shares) {
    add(kSingle, 1, share);
    for (const int count : devices) {
      if (count == 1) continue;
      if (count <= steps.machine.hardware.node.gpus.value) add(kDp, count, share);
      add(kDdp, count, share);
      for (const std::string& size : steps.bucket_mb) {
        cells.push_back(described_cell(steps, name_of(kDdp), count, share));
        cells.back().options["bucket-mb"] = size;
      }
      add(kIndependent, count, share);
    }
  }
  return cells;
}

}  // namespace tandem::cli
