// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/launch/torch_twin.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "common/base/checksummed_file.h"
#include "common/base/error.h"
#include "common/base/text.h"
#include "common/base/units.h"
#include "common/options/strategies.h"
#include "reports/model/subject.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/program_paths.h"

namespace tandem::cli {
namespace {

using enum options::StrategyKind;

constexpr std::array<std::string_view, 4> kOptions{"input", "optimizer", "precision", "seed"};
constexpr std::array<std::string_view, 3> kOptionsOfDdp{"grads", "bucket-mb", "static-graph"};

constexpr const char* kUsualPython = "python3";

template <std::size_t kCount>
bool is_one_of(const std::array<std::string_view, kCount>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool has_option(const results::Cell& cell, const std::string& name, const std::string& value) {
  if (is_one_of(kOptions, name)) return value != "scatter";
  if (cell.strategy != name_of(kDdp) || !is_one_of(kOptionsOfDdp, name)) return false;
  return name != "bucket-mb" || value.find_first_not_of("0123456789") == std::string::npos;
}

std::filesystem::path find_script() {
  for (const std::filesystem::path& folder : torch_folders()) {
    if (std::filesystem::exists(folder / "step_twin")) return folder / "step_twin";
  }
  fail(ErrorKind::kUsage,
       "--with-torch: step_twin is not beside this program, nor where it was "
       "built; keep tools/torch there");
}

// The one line that torch's script answers; "" where the script fails.
std::string answer_of(const TorchTwin& twin, const std::string& question) {
  std::string answer = output_of(fmt::format("{} -B {} {} 2>/dev/null", shell_word(twin.python),
                                             shell_word(twin.script.string()), question));
  while (answer.ends_with('\n')) answer.pop_back();
  return answer;
}

void say_without(const std::string& why) {
  fmt::print(stderr, "without torch: {}; the sweep goes on\n", why);
}

}  // namespace

std::optional<TorchTwin> find_torch_twin(const std::string& python, const LaunchSite& site) {
  TorchTwin twin{.python = python, .script = find_script(), .name = {}};
  if (site.is_elsewhere()) {
    say_without("its side runs on this machine alone");
    return std::nullopt;
  }
  twin.name = answer_of(twin, "--name");
  if (twin.name.starts_with("torch-")) return twin;
  const bool is_there =
      python.find('/') == std::string::npos ? is_in_path(python) : is_program(python);
  if (!is_there && python != kUsualPython) {
    fail(ErrorKind::kUsage, "--with-torch: there is no program '{}'; name a python that has torch",
         python);
  }
  say_without(fmt::format("{} has none; --with-torch=PYTHON names another", twin.python));
  return std::nullopt;
}

std::string dispatch_cost_of(const TorchTwin& twin) {
  const std::string cost = answer_of(twin, "--dispatch-cost");
  if (cost.empty()) {
    fail(ErrorKind::kFailure,
         "--dispatch-cost=auto: {} {} --dispatch-cost did not answer; run it to see why",
         twin.python, twin.script.string());
  }
  (void)parse_duration(cost, "--dispatch-cost=auto");
  return cost;
}

bool has_torch_counterpart(const results::Cell& cell) {
  const bool is_known = cell.strategy == name_of(kSingle) || cell.strategy == name_of(kDp) ||
                        cell.strategy == name_of(kDdp) ||
                        (cell.strategy == name_of(kIndependent) && cell.launch == "processes");
  if (!is_known || checksummed_file(cell.model)) return false;
  return std::ranges::all_of(cell.options, [&](const auto& option) {
    return has_option(cell, option.first, option.second);
  });
}

void add_torch_cells(PlannedCells& planned, const std::string& name, bool is_host) {
  const std::vector<results::Cell> own = planned.cells;
  for (const results::Cell& cell : own) {
    results::Cell twin = cell;
    twin.options[reports::kImplementation] = name;
    if (!has_torch_counterpart(cell)) {
      planned.dropped.push_back(
          {.cell = std::move(twin), .reason = "torch has no such strategy, option or model"});
    } else if (is_host && cell.strategy == name_of(kDp)) {
      planned.dropped.push_back({.cell = std::move(twin),
                                 .reason = "torch's DataParallel is between GPUs; on a CPU it is "
                                           "the plain module"});
    } else {
      planned.cells.push_back(std::move(twin));
    }
  }
}

}  // namespace tandem::cli
