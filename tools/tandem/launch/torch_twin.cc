// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/launch/torch_twin.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string_view>
#include <utility>

#include "common/base/checksummed_file.h"
#include "common/base/error.h"
#include "common/base/text.h"
#include "common/json/fields.h"
#include "common/json/parse.h"
#include "common/options/strategies.h"
#include "reports/model/subject.h"
#include "tools/tandem/launch/launch_command.h"
#include "tools/tandem/launch/launch_scratch.h"
#include "tools/tandem/launch/python_script.h"
#include "tools/tandem/process/child_process.h"
#include "tools/tandem/process/child_reason.h"
#include "tools/tandem/process/nvidia_device.h"
#include "tools/tandem/process/program_paths.h"
#include "tools/tandem/sweep/torch_options.h"

namespace tandem::cli {
namespace {

using enum options::StrategyKind;

constexpr const char* kUsualPython = "python3";
constexpr std::string_view kUnfit = "unfit: ";  // begins the answer of a torch that is not measured

// The one line that torch's script answers; "" where the script fails.
std::string answer_of(const TorchTwin& twin, const std::string& question) {
  std::string answer = output_of(fmt::format("{} -B {} {} 2>/dev/null", shell_word(twin.python),
                                             shell_word(twin.script.string()), question));
  while (answer.ends_with('\n')) answer.pop_back();
  return answer;
}

// Why a torch that is there does not load, as where one of its libraries is missing; else "".
std::string import_error_of(const std::string& python) {
  std::string line =
      output_of(fmt::format("{} -c 'import torch' 2>&1 | tail -n 1", shell_word(python)));
  while (line.ends_with('\n')) line.pop_back();
  return line.starts_with("ImportError: ") || line.starts_with("OSError: ") ? line : "";
}

// Asks the python for its torch. Returns why there is none to be measured; "" where `twin` is
// whole.
std::string why_without(TorchTwin& twin, const LaunchSite& site, const std::string& backend) {
  if (site.is_elsewhere() && site.program.empty()) return "its side runs on this machine alone";
  const bool is_of_gpus = backend == "cuda" || (backend == "auto" && has_nvidia_device());
  const std::string fit_for = is_of_gpus ? "=cuda" : backend == kUnmeasured ? "=any" : "";
  twin.name = answer_of(twin, "--name" + fit_for);
  if (twin.name.starts_with("torch-")) return "";
  if (twin.name.starts_with(kUnfit)) return twin.name.substr(kUnfit.size());
  const bool is_there = twin.python.find('/') == std::string::npos ? is_in_path(twin.python)
                                                                   : is_program(twin.python);
  if (!is_there && twin.python != kUsualPython) {
    fail(ErrorKind::kUsage, "--with-torch: there is no program '{}'; name a python that has torch",
         twin.python);
  }
  const std::string error = import_error_of(twin.python);
  if (error.empty()) {
    return fmt::format("{} has none; --with-torch=PYTHON names another", twin.python);
  }
  return fmt::format(
      "that of {} does not load: {}; mend it, or name another python by --with-torch=PYTHON",
      twin.python, error);
}

constexpr std::string_view kTwinSays = "step_twin: ";  // begins its errors

// The answer of step_twin is the last line that is an object of its own; a user's code may print,
// too.
std::optional<ModuleFacts> facts_in(const std::filesystem::path& log) {
  std::optional<ModuleFacts> facts;
  std::ifstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    const auto json = object_in(line, log.string());
    if (!json || !json->root().has("own_optimizer")) continue;
    const JsonValue root = json->root();
    facts = {.name = std::string(root.at("module").text()),
             .unused = std::string(root.at("unused").text()),
             .has_optimizer = root.at("own_optimizer").boolean(),
             .optimizer = value_or(root, "optimizer", std::string()),
             .kernels = value_or(root, "kernels", std::int64_t{0}),
             .unused_tensors = value_or(root, "unused_tensors", std::int64_t{0}),
             .reads = value_or(root, "reads", std::int64_t{0}),
             .has_tf32 = value_or(root, "has_tf32", false),
             .peak_bytes = value_or(root, "peak_bytes", std::int64_t{0}),
             .sample_bytes = value_or(root, "sample_bytes", std::int64_t{0}),
             .batch = value_or(root, "batch", std::int64_t{0})};
    const auto wrapped = root.find("wrapped");
    if (!wrapped) continue;
    facts->wrapped = {.dp_root = value_or(*wrapped, "root", facts->peak_bytes),
                      .dp_other = value_or(*wrapped, "other", facts->peak_bytes),
                      .dp_device = value_or(*wrapped, "device", std::int64_t{0}),
                      .ddp = value_or(*wrapped, "ddp", facts->peak_bytes)};
    facts->trouble = value_or(*wrapped, "error", std::string());
  }
  return facts;
}

std::vector<std::string> about_words(const std::string& source, const ModuleStep& step) {
  std::vector<std::string> words{"--about", "--module=" + source,
                                 fmt::format("--batch={}", step.batch),
                                 "--backend=" + step.backend};
  if (!step.precision.empty()) words.push_back("--precision=" + step.precision);
  if (!step.export_to.empty()) words.push_back("--export=" + step.export_to.string());
  return words;
}

}  // namespace

std::optional<TorchTwin> find_torch_twin(const std::string& python, const LaunchSite& site,
                                         const std::string& backend) {
  TorchTwin twin{.python = python, .script = torch_script("step_twin"), .name = {}};
  const std::string why = why_without(twin, site, backend);
  if (why.empty()) return twin;
  fmt::print(stderr, "without torch: {}; the sweep goes on\n", why);
  return std::nullopt;
}

TorchTwin needed_torch_twin(const std::string& python, const LaunchSite& site,
                            const std::string& backend) {
  if (python == kNoTorch) {
    fail(
        ErrorKind::kUsage,
        "--with-torch={}: a module needs torch; leave the option out, or name a python that has it",
        kNoTorch);
  }
  TorchTwin twin{.python = python, .script = torch_script("step_twin"), .name = {}};
  const std::string why = why_without(twin, site, backend);
  if (!why.empty()) fail(ErrorKind::kUsage, "a module needs torch: {}", why);
  return twin;
}

ChildResult ask_torch(const TorchTwin& twin, const TwinQuestion& question,
                      const Interrupts& interrupts) {
  std::vector<std::string> words{twin.python, "-B", twin.script.string()};
  words.insert(words.end(), question.words.begin(), question.words.end());
  std::vector<std::string> environment = launch_environment();
  for (const std::string& variable : twin.environment) set_variable(environment, variable);
  ChildResult child = run_child({.arguments = std::move(words),
                                 .environment = std::move(environment),
                                 .log = question.log,
                                 .timeout = question.patience},
                                interrupts);
  if (child.end == ChildResult::End::kInterrupted) throw Interrupted(question.what);
  return child;
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
  if (is_host && cell.option("conv-fp32") == "on") return "convolutions of CPUs are fp32";
  if (precision == "fp16") return "fp16 with a gradient scaler is a GPU's";
  return precision == "tf32" ? "tf32 is a GPU's" : "";
}

void add_torch_cells(PlannedCells& planned, const std::string& name, bool is_host,
                     TorchCells which) {
  const std::vector<results::Cell> own = planned.cells;
  for (const results::Cell& cell : own) {
    results::Cell twin = cell;
    twin.options[reports::kImplementation] = name;
    if (which == TorchCells::kPairs) {
      const bool is_pair = cell.strategy == name_of(kDp) || cell.strategy == name_of(kDdp);
      if (is_pair && has_torch_counterpart(cell)) planned.cells.push_back(std::move(twin));
    } else if (!has_torch_counterpart(cell)) {
      planned.dropped.push_back(
          {.cell = std::move(twin), .reason = "torch has no such strategy, option or model"});
    } else if (std::string why = why_not_of_torch(cell, is_host); !why.empty()) {
      planned.dropped.push_back({.cell = std::move(twin), .reason = std::move(why)});
    } else {
      planned.cells.push_back(std::move(twin));
    }
  }
}

ModuleFacts facts_of_module(const TorchTwin& twin, const std::string& source,
                            const ModuleStep& step, const Interrupts& interrupts) {
  const TemporaryFolder folder;
  const TwinQuestion question{.words = about_words(source, step),
                              .what = "trying " + source,
                              .log = folder.path() / "about.log",
                              .patience = step.patience};
  // Torch alone takes seconds to load; where nobody waits at a terminal, an error is one line.
  if (::isatty(STDERR_FILENO) == 1) fmt::print(stderr, "{}: a step on one device\n", question.what);
  const ChildResult child = ask_torch(twin, question, interrupts);
  const std::optional<ModuleFacts> facts =
      child.has_exited(0) ? facts_in(question.log) : std::nullopt;
  if (facts) return *facts;
  if (child.has_exited(0)) {
    fail(ErrorKind::kFailure, "{}: its answer is not in {}; free some space there, or set TMPDIR",
         question.what, folder.path().parent_path().string());
  }
  const bool is_usage = child.has_exited(kUsageExit);
  std::string reason = reason_of(child, question.what, step.patience);
  if (child.end == ChildResult::End::kTimedOut) {
    reason += ": see where its code waits, or give more by --launch-timeout";
  }
  if (reason.starts_with(kTwinSays)) reason.erase(0, kTwinSays.size());
  fail(is_usage ? ErrorKind::kUsage : ErrorKind::kFailure, "{}", reason);
}

void say_unused(const ModuleFacts& facts) {
  if (facts.unused.empty()) return;
  fmt::print(stderr, "{}: a step gives {} no gradient: torch's ddp runs with {}=on\n", facts.name,
             facts.unused, kFindUnused);
}

std::string short_name(const std::string& source) {
  const std::string where = source.substr(0, source.rfind(':'));
  if (where.ends_with(".py")) return std::filesystem::path(where).stem().string();
  return where.substr(where.rfind('.') + 1);
}

std::string absolute_source(const std::string& source, const std::filesystem::path& folder) {
  const std::size_t mark = source.rfind(':');
  if (mark == std::string::npos || !std::string_view(source).substr(0, mark).ends_with(".py")) {
    return source;
  }
  const std::filesystem::path file = std::filesystem::absolute(folder / source.substr(0, mark));
  return file.lexically_normal().string() + source.substr(mark);
}

}  // namespace tandem::cli
