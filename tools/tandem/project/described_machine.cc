// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/project/described_machine.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "common/base/error.h"
#include "common/base/text.h"
#include "simulate/catalogue/catalogue.h"

namespace tandem::cli {
namespace {

constexpr std::string_view kAnyNetwork = "eth-25g";

// What a GPU may have, of the precisions of steps: fp16 with a gradient scaler is a module's alone.
std::vector<std::string> precisions_of(const GpuDescription& gpu, bool is_of_module) {
  std::vector<std::string> names{"fp32"};
  if (gpu.tf32) names.emplace_back("tf32");
  if (gpu.bf16) names.emplace_back("bf16");
  if (is_of_module && (gpu.fp16 || gpu.bf16)) names.emplace_back("fp16");
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

}  // namespace

std::int64_t gpus_of(const HardwareDescription& hardware) {
  return std::int64_t{hardware.node.gpus.value} * hardware.nodes();
}

DescribedMachine machine_for(const std::string& given, int most_devices) {
  const std::string asked = is_hardware_file(given) ? given : machine_name(given);
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

void check_precision(const std::string& precision, const DescribedMachine& machine,
                     bool is_of_module) {
  const GpuDescription& gpu = machine.hardware.gpu;
  const std::vector<std::string> known = precisions_of(gpu, is_of_module);
  if (precision.empty() || std::ranges::find(known, precision) != known.end()) return;
  const bool is_of_gpus = precision == "tf32" || precision == "bf16";
  if (!is_of_gpus && !(is_of_module && precision == "fp16")) {
    fail(ErrorKind::kUsage, "--precision={}: {}; {} has {}", precision,
         precision == "fp16" ? "with a gradient scaler, a step is projected of a --module alone"
                             : "there is no such precision",
         machine.name, fmt::join(known, ", "));
  }
  fail(ErrorKind::kUsage,
       "--precision={0}: the GPU of {1}, {2}, has no {0}, only {3}{4}; use one of these, or a "
       "machine whose GPU has {0}, such as dgx-a100",
       precision, machine.name, gpu.name, fmt::join(known, ", "),
       gpu.fp16 && !is_of_module ? " (and fp16, for a --module)" : "");
}

}  // namespace tandem::cli
