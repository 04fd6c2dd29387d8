// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/explain/measured_costs.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include "common/base/dispatch_costs.h"
#include "common/base/error.h"
#include "common/base/text.h"
#include "tools/tandem/launch/launch_command.h"
#include "tools/tandem/launch/launch_scratch.h"
#include "tools/tandem/pretend/pretend_command.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/child_reason.h"
#include "tools/tandem/process/interrupts.h"

namespace tandem::cli {
namespace {

constexpr const char* kWhat = "--dispatch-cost=auto";
constexpr std::chrono::seconds kCostsPatience{300};

std::vector<std::string> pretended_environment(const TorchTwin& twin) {
  std::vector<std::string> environment = launch_environment();
  const auto lack = capture_error([&] {
    for (const std::string& variable :
         pretend_variables({.gpus = 2, .beside_gpu = true, .python = twin.python})) {
      set_variable(environment, variable);
    }
  });
  if (lack) fail(lack->kind(), "{}: {}; or give costs, such as 8us", kWhat, lack->what());
  return environment;
}

// The line of costs; "" where there is none. Other lines tell their intervals, and go to stderr.
std::string costs_in(const std::filesystem::path& log) {
  const std::string first = fmt::format("{}:", kDispatchKindNames.front());
  std::string found;
  std::ifstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(first) && line.find(' ') == std::string::npos) found = line;
    if (line.find(" us [") != std::string::npos) fmt::print(stderr, "{}\n", line);
  }
  return found;
}

// Torch's side measures each kind of the list, and no other.
void check_measured(const std::string& costs) {
  (void)parse_dispatch_costs(costs, kWhat);
  const std::vector<std::string_view> parts = split(costs, ',');
  for (const std::string_view kind : kDispatchKindNames) {
    const bool is_there = std::ranges::any_of(
        parts, [&](std::string_view part) { return part.starts_with(fmt::format("{}:", kind)); });
    if (is_there) continue;
    fail(ErrorKind::kFailure,
         "{}: torch's side answered '{}', which has no {}; keep the tools/torch of this version",
         kWhat, costs, kind);
  }
}

}  // namespace

std::string dispatch_costs_of(const TorchTwin& twin, const std::string& optimizer) {
  const TemporaryFolder folder;
  const std::filesystem::path log = folder.path() / "costs.log";
  const std::string question = "--dispatch-cost" + (optimizer.empty() ? "" : "=" + optimizer);
  const Interrupts interrupts;
  const ChildResult child =
      run_child({.arguments = {twin.python, "-B", twin.script.string(), question},
                 .environment = pretended_environment(twin),
                 .log = log,
                 .timeout = kCostsPatience},
                interrupts);
  if (child.end == ChildResult::End::kInterrupted) throw Interrupted(kWhat);
  if (!child.has_exited(0)) {
    fail(child.has_exited(kUsageExit) ? ErrorKind::kUsage : ErrorKind::kFailure, "{}: {}", kWhat,
         reason_of(child, "torch's side", kCostsPatience));
  }
  const std::string costs = costs_in(log);
  check_measured(costs);
  return costs;
}

}  // namespace tandem::cli
