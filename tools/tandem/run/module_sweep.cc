// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/module_sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "common/base/error.h"
#include "common/base/text.h"
#include "common/options/strategies.h"
#include "reports/model/subject.h"
#include "tools/tandem/sweep/torch_options.h"

namespace tandem::cli {
namespace {

using enum options::StrategyKind;

std::vector<std::int64_t> batches_in(std::string_view flag, const std::string& text) {
  constexpr std::int64_t kMost = 1'000'000'000;
  std::vector<std::int64_t> batches;
  for (const std::string_view part : split(text, ',')) {
    const auto batch = parse_number<std::int64_t>(part);
    if (!batch || *batch < 1 || *batch > kMost) {
      fail(ErrorKind::kUsage, "{}={}: use whole numbers from 1 with commas between, such as 8,32",
           flag, text);
    }
    batches.push_back(*batch);
  }
  return batches;
}

std::vector<SweepWorkload> workloads_of(const ModuleOptions& options) {
  if (options.batch.empty() == options.batch_per_device.empty()) {
    fail(ErrorKind::kUsage,
         "--module: give one of --batch-per-device and --batch (over all devices), such as "
         "--batch-per-device=8,32");
  }
  const bool is_per_device = options.batch.empty();
  const auto batches = is_per_device ? batches_in("--batch-per-device", options.batch_per_device)
                                     : batches_in("--batch", options.batch);
  std::vector<SweepWorkload> workloads;
  for (const std::int64_t batch : batches) {
    workloads.push_back({.model = options.source, .batch = batch, .is_per_device = is_per_device});
  }
  return workloads;
}

void add_asked_cells(Sweep& sweep, const std::vector<std::string>& cells) {
  for (const std::string& words : cells) {
    for (SweepStrategy& strategy : torch_strategies_of(words)) {
      sweep.strategies.push_back(std::move(strategy));
    }
  }
}

bool torch_has(const SweepStrategy& strategy) {
  return has_torch_strategy(strategy.strategy, strategy.launch) &&
         std::ranges::all_of(strategy.options, [&](const auto& option) {
           return torch_option_mistake(strategy.strategy, option.first, option.second).empty();
         });
}

// The fewest samples that a device gets in a step.
std::int64_t smallest_share(const Sweep& sweep) {
  std::int64_t least = 0;
  const int most = *std::ranges::max_element(sweep.devices);
  for (const SweepWorkload& workload : sweep.workloads) {
    const std::int64_t share =
        workload.is_per_device ? workload.batch : std::max<std::int64_t>(1, workload.batch / most);
    if (least == 0 || share < least) least = share;
  }
  return least;
}

// Gives constraints the module's name in cells in place of its source.
void rename_in_constraints(Sweep& sweep, const std::string& source, const std::string& name) {
  for (Constraint& constraint : sweep.constraints) {
    for (Condition& condition : constraint.when) {
      if (condition.key != "model") continue;
      std::ranges::replace(condition.any_of, source, name);
    }
  }
}

const ModuleFacts& facts_of(const results::Cell& cell, const std::vector<ModuleFacts>& modules) {
  return *std::ranges::find(modules, cell.model, &ModuleFacts::name);
}

void check_optimizer(const results::Cell& cell, const ModuleFacts& facts) {
  for (const char* option : {"optimizer", "fused"}) {
    if (!facts.has_optimizer || !cell.options.contains(option)) continue;
    fail(
        ErrorKind::kUsage,
        "{} returns an optimizer of its own: --{} is not for it; set it in the function, or return "
        "no optimizer",
        facts.name, option);
  }
}

// DistributedDataParallel waits for the gradient of every parameter, unless it looks for those that
// a step does not use.
void look_for_unused(results::Cell& cell, const ModuleFacts& facts) {
  const bool has_ddp = cell.strategy == name_of(kDdp) || cell.strategy == "zero1";
  if (!has_ddp || facts.unused.empty()) return;
  if (cell.option("static-graph") != "on") cell.options[kFindUnused] = "on";
}

std::string why_dropped(const results::Cell& cell, bool is_host) {
  const std::string pieces = cell.option("accumulate", "1");
  if (pieces != "1" && cell.option("static-graph") == "on") {
    return "torch's static graph needs a first backward that reduces, which accumulate has not";
  }
  const std::int64_t share = cell.global_batch / cell.devices;
  if (share % std::stoll(pieces) != 0) {
    return fmt::format("a share of {} cannot be cut into {} equal micro-batches",
                       count_text(share, "sample"), pieces);
  }
  if (cell.options.contains("mixed") && cell.option("precision", "fp32") == "fp32") {
    return "mixed says how bf16 and fp16 are cast, and the precision is fp32";
  }
  return why_not_of_torch(cell, is_host);
}

}  // namespace

Sweep module_sweep(const ModuleOptions& options, int devices) {
  if (devices == 0) {
    fail(ErrorKind::kUsage,
         "--module: how many devices there are is not known here, because no driver reports GPUs; "
         "say --devices=N, or --backend=host for this machine's cores");
  }
  Sweep sweep{.name = short_name(options.source),
              .description = "",
              .workloads = workloads_of(options),
              .devices = doubling(devices),
              .strategies = usual_torch_strategies()};
  sweep.is_of_modules = true;
  add_asked_cells(sweep, options.cells);
  return sweep;
}

Sweep with_module(Sweep like, const ModuleOptions& options) {
  if (like.is_of_modules) {
    fail(ErrorKind::kUsage,
         "--module={}: the sweep {} has modules of its own; leave one of them out", options.source,
         like.name);
  }
  const std::string asked = like.name;
  Sweep sweep = std::move(like);
  sweep.name = short_name(options.source) + "-" + asked;
  sweep.workloads = workloads_of(options);
  sweep.is_of_modules = true;
  sweep.constraints.clear();  // what is known of the sweep's own models
  sweep.model_series.clear();
  sweep.model_files.clear();
  std::erase_if(sweep.strategies,
                [](const SweepStrategy& strategy) { return !torch_has(strategy); });
  add_asked_cells(sweep, options.cells);
  if (!sweep.strategies.empty()) return sweep;
  fail(ErrorKind::kUsage,
       "--module={}: PyTorch has no strategy of the sweep {}; leave the sweep out, or add --cell",
       options.source, asked);
}

std::vector<ModuleFacts> name_modules(Sweep& sweep, const std::filesystem::path& folder,
                                      const AskAboutModule& ask) {
  const std::int64_t share = smallest_share(sweep);
  std::map<std::string, std::string> names;  // by written source
  std::vector<ModuleFacts> modules;
  for (SweepWorkload& workload : sweep.workloads) {
    const auto [place, is_new] = names.try_emplace(workload.model);
    if (is_new) {
      const std::string source = absolute_source(workload.model, folder);
      modules.push_back(ask(source, share));
      place->second = modules.back().name;
      sweep.modules[place->second] = source;
      rename_in_constraints(sweep, workload.model, place->second);
    }
    workload.model = place->second;
  }
  return modules;
}

void make_torch_cells(PlannedCells& planned, const std::string& implementation, bool is_host,
                      const std::vector<ModuleFacts>& modules) {
  std::ranges::for_each(modules, say_unused);
  std::vector<results::Cell> kept;
  std::set<std::string> names;
  for (results::Cell& cell : planned.cells) {
    const ModuleFacts& facts = facts_of(cell, modules);
    check_optimizer(cell, facts);
    look_for_unused(cell, facts);
    std::string reason = why_dropped(cell, is_host);
    cell.options[reports::kImplementation] = implementation;
    if (reason.empty()) {
      if (names.insert(cell.name()).second) kept.push_back(std::move(cell));
    } else {
      planned.dropped.push_back({.cell = std::move(cell), .reason = std::move(reason)});
    }
  }
  planned.cells = std::move(kept);
}

}  // namespace tandem::cli
