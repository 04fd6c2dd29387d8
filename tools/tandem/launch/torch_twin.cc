// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/launch/torch_twin.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "common/base/checksummed_file.h"
#include "common/base/error.h"
#include "common/base/text.h"
#include "common/options/strategies.h"
#include "reports/model/subject.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/program_paths.h"
#include "tools/tandem/sweep/torch_options.h"

namespace tandem::cli {
namespace {

using enum options::StrategyKind;

constexpr const char* kUsualPython = "python3";
constexpr std::string_view kUnfit = "unfit: ";  // begins the answer of a torch that is not measured

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
  std::string variables;
  for (const std::string& variable : twin.environment) variables += shell_word(variable) + ' ';
  if (!variables.empty()) variables.insert(0, "env ");
  std::string answer =
      output_of(fmt::format("{}{} -B {} {} 2>/dev/null", variables, shell_word(twin.python),
                            shell_word(twin.script.string()), question));
  while (answer.ends_with('\n')) answer.pop_back();
  return answer;
}

// Asks the python for its torch. Returns why there is none to be measured; "" where `twin` is
// whole.
std::string why_without(TorchTwin& twin, const LaunchSite& site) {
  if (site.is_elsewhere()) return "its side runs on this machine alone";
  twin.name = answer_of(twin, "--name");
  if (twin.name.starts_with("torch-")) return "";
  if (twin.name.starts_with(kUnfit)) return twin.name.substr(kUnfit.size());
  const bool is_there = twin.python.find('/') == std::string::npos ? is_in_path(twin.python)
                                                                   : is_program(twin.python);
  if (!is_there && twin.python != kUsualPython) {
    fail(ErrorKind::kUsage, "--with-torch: there is no program '{}'; name a python that has torch",
         twin.python);
  }
  return fmt::format("{} has none; --with-torch=PYTHON names another", twin.python);
}

}  // namespace

std::optional<TorchTwin> find_torch_twin(const std::string& python, const LaunchSite& site) {
  TorchTwin twin{.python = python, .script = find_script(), .name = {}};
  const std::string why = why_without(twin, site);
  if (why.empty()) return twin;
  fmt::print(stderr, "without torch: {}; the sweep goes on\n", why);
  return std::nullopt;
}

TorchTwin needed_torch_twin(const std::string& python, const LaunchSite& site) {
  TorchTwin twin{.python = python, .script = find_script(), .name = {}};
  const std::string why = why_without(twin, site);
  if (!why.empty()) fail(ErrorKind::kUsage, "a module needs torch: {}", why);
  return twin;
}

bool has_torch_counterpart(const results::Cell& cell) {
  if (!has_torch_strategy(cell.strategy, cell.launch) || checksummed_file(cell.model)) return false;
  return std::ranges::all_of(cell.options, [&](const auto& option) {
    return torch_option_mistake(cell.strategy, option.first, option.second).empty();
  });
}

std::string why_not_of_torch(const results::Cell& cell, bool is_host) {
  if (is_host && cell.strategy == name_of(kDp)) {
    return "torch's DataParallel is between GPUs; on a CPU it is the plain module";
  }
  const std::string precision = is_host ? cell.option("precision") : "";
  if (precision == "fp16") return "fp16 with a gradient scaler is a GPU's";
  return precision == "tf32" ? "tf32 is a GPU's" : "";
}

void add_torch_cells(PlannedCells& planned, const std::string& name, bool is_host) {
  const std::vector<results::Cell> own = planned.cells;
  for (const results::Cell& cell : own) {
    results::Cell twin = cell;
    twin.options[reports::kImplementation] = name;
    if (!has_torch_counterpart(cell)) {
      planned.dropped.push_back(
          {.cell = std::move(twin), .reason = "torch has no such strategy, option or model"});
    } else if (std::string why = why_not_of_torch(cell, is_host); !why.empty()) {
      planned.dropped.push_back({.cell = std::move(twin), .reason = std::move(why)});
    } else {
      planned.cells.push_back(std::move(twin));
    }
  }
}

}  // namespace tandem::cli
