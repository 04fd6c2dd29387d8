// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "common/base/text.h"
#include "simulate/catalogue/catalogue.h"
#include "simulate/catalogue/published_errors.h"
#include "tools/tandem/project/described_task.h"

namespace tandem::cli {
namespace {

using Launches = std::vector<results::LaunchRecord>;

constexpr std::string_view kWithoutTensorCores = " without tensor cores";  // as rests_on ends

// The precision of all steps in words.
std::string precision_text(const std::string& precision, bool has_tf32) {
  if (!precision.empty() && precision != "fp32") return precision;
  return has_tf32 ? "fp32 (convolutions in tf32, torch's default)" : "fp32";
}

// `has_rows`: whether published steps have the options that are asked for.
reports::PublishedStanding standing_of(const std::string& strategy, const std::string& gpu,
                                       bool has_rows = true) {
  const auto like = errors_on_systems_with(strategy, gpu);
  const PublishedErrors others = errors_elsewhere(strategy);
  const PublishedErrors errors = like.value_or(others);
  const bool are_few = !has_rows || errors.steps < reports::kFewestForNinety;
  const bool is_wider_elsewhere = are_few && others.half_width > errors.half_width;
  const PublishedErrors& of_width = is_wider_elsewhere ? others : errors;
  return {.strategy = strategy,
          .is_like = like.has_value(),
          .has_rows = has_rows,
          .systems = errors.systems,
          .steps = errors.steps,
          .mean = errors.mean,
          .most = errors.most,
          .half_width = of_width.half_width,
          .most_devices = of_width.most_devices};
}

// "dgx-a100 (8 A100 SXM4 80GB)"; a network that nobody named is called assumed.
std::string machine_text(const DescribedTask& task) {
  const DescribedMachine& machine = task.steps.machine;
  const HardwareDescription& hardware = machine.hardware;
  const std::string nodes = hardware.nodes() == 1 ? "" : fmt::format("{} x ", hardware.nodes());
  const std::string& asked = task.options.hardware;
  const std::size_t at = machine.name.find('@');
  const bool is_assumed = at != std::string::npos && asked.find('@') == std::string::npos;
  return fmt::format("{} ({}{} {}{})", machine.name, nodes, hardware.node.gpus.value,
                     hardware.gpu.name,
                     is_assumed ? ", its network assumed: " + machine.name.substr(at + 1) : "");
}

// Whether convolutions are in tf32, torch's default where the GPU has it.
bool has_tf32(const DescribedTask& task) {
  if (!task.steps.machine.hardware.gpu.tf32) return false;
  if (task.module) return task.module->facts.has_tf32;
  // ResNets alone of the built-in models have convolutions.
  return task.options.model.starts_with("resnet");
}

// Whether products without tensor cores take most of the operations' time: in fp32 on a GPU without
// tf32, or by the launches' critical paths, as where kernels have types of their own.
bool is_plain(const DescribedTask& task, const Launches& launches) {
  const std::string& precision = task.options.precision;
  if (!precision.empty() && precision != "fp32") return false;
  if (!task.steps.machine.hardware.gpu.tf32 && !task.has_own_types) return true;
  double plain = 0;
  double all = 0;
  for (const results::LaunchRecord& launch : launches) {
    if (!launch.rests_on) continue;
    for (const auto& [name, share] : *launch.rests_on) {
      if (!name.starts_with("operations")) continue;
      all += share;
      if (name.ends_with(kWithoutTensorCores)) plain += share;
    }
  }
  return 2 * plain > all;
}

// By what a step errs whose kernels are priced one by one; without tensor cores it errs otherwise.
reports::PublishedStanding standing_of_one(const DescribedTask& task, const Launches& launches) {
  const std::string& gpu = task.steps.machine.hardware.gpu.name;
  auto standing = standing_of(is_plain(task, launches) ? "listed-fp32" : "listed", gpu);
  standing.strategy = "single";
  return standing;
}

std::string described_operations(const DescribedTask& task, const Launches& launches) {
  const reports::PublishedStanding errors = standing_of_one(task, launches);
  const bool are_few = errors.is_like && errors.steps < reports::kFewestForNinety;
  return fmt::format(
      "operations: a time for each kernel of PyTorch's step, by constants that err by {:.0f} % on "
      "average, by {:.0f} % at most, on {}{} of models {}: the interval of a step, divided and "
      "multiplied by {:.2f}, {}",
      100 * errors.mean, 100 * errors.most, count_text(errors.steps, "measured step"),
      is_plain(task, launches) ? kWithoutTensorCores : "",
      errors.is_like ? "that they were not fitted to, on such a GPU"
                     : "on GPUs that they were not fitted to",
      std::exp(errors.half_width),
      are_few ? "is no narrower than that of other GPUs, since so few do not show what holds nine "
                "in ten"
              : "holds nine in ten");
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

}  // namespace

reports::Decisions decisions_of(const DescribedTask& task, const Launches& launches) {
  const std::string& gpu = task.steps.machine.hardware.gpu.name;
  std::string options;
  for (const auto& [name, value] : task.steps.more) options += fmt::format(", {}={}", name, value);
  const bool has_rows = options.empty();
  reports::Decisions decisions{
      .gpu = std::string(kind_of_gpu(gpu)),
      .machine = machine_text(task),
      .options = std::move(options),
      .precision = task.has_own_types ? "the types of its kernels"
                                      : precision_text(task.options.precision, has_tf32(task)),
      .knows_single_step = !task.options.single_step.empty(),
      .lists_kernels = task.lists_kernels,
      .has_whole_batches = task.steps.has_whole_batches};
  const int of_node = task.steps.machine.hardware.node.gpus.value;
  if (task.steps.has_dp()) decisions.standing.push_back(standing_of("dp", gpu));
  decisions.standing.push_back(standing_of("ddp", gpu, has_rows));
  if (task.devices.back() > of_node) {
    decisions.standing.push_back(standing_of("ddp-nodes", gpu, has_rows));
    decisions.standing.back().strategy = "ddp";
    decisions.standing.back().beyond = of_node;
  }
  if (!decisions.knows_single_step && task.lists_kernels) {
    decisions.standing.push_back(standing_of_one(task, launches));
  }
  return decisions;
}

std::vector<std::string> basis_of(const DescribedTask& task, const Launches& launches) {
  std::vector<std::string> basis;
  for (const std::string& line : basis_lines(launches)) {
    const bool is_told_below = line.starts_with("dispatch cost") || line == "interpreter lock";
    if (!is_told_below) basis.push_back(line);
  }
  if (task.module) {
    const std::vector<std::string> of_module = basis_of(*task.module);
    basis.insert(basis.end(), of_module.begin(), of_module.end());
  }
  if (task.options.single_step.empty() && task.lists_kernels) {
    basis.push_back(described_operations(task, launches));
  }
  basis.push_back(costs_line(task));
  const auto& scatter = task.steps.machine.hardware.gpu.scatter;
  if (scatter && scatter->source == kAssumedScatter && task.devices.back() > 1) {
    basis.push_back(
        fmt::format("! {} has no scatter of its GPU: {:.2f} % of a step, as GPUs of the catalogue "
                    "have; give another, or 0%",
                    task.steps.machine.name, 100 * scatter->value));
  }
  const int gpus = task.steps.machine.hardware.node.gpus.value;
  if (task.devices.back() > gpus) {
    basis.push_back(
        fmt::format("dp is one process on one node, so that it ends at {} devices", gpus));
  }
  return basis;
}

}  // namespace tandem::cli
