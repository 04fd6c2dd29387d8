// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/measuring.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <numeric>
#include <set>
#include <string_view>

#include "common/base/checksummed_file.h"
#include "common/base/error.h"
#include "common/base/known_names.h"
#include "common/json/parse.h"
#include "common/json/writer.h"
#include "common/options/rules.h"
#include "common/options/values.h"
#include "common/results/journal.h"
#include "common/results/machine_facts.h"
#include "reports/model/subject.h"
#include "tools/tandem/process/nvidia_device.h"
#include "tools/tandem/process/program_paths.h"

namespace tandem::cli {

namespace {

constexpr const char* kProgramsFact{"tandem_programs_checksum"};

// The text "launches: 3 there, 6 here" for each key that differs between the definitions; "" where
// a definition is no JSON object.
std::string differences(const std::string& there, const std::string& here) {
  const auto a = object_in(there, "the definition there");
  const auto b = object_in(here, "the definition here");
  if (!a || !b) return "";
  std::set<std::string> keys;
  for (const JsonDocument* side : {&*a, &*b}) {
    for (const JsonValue member : side->root()) keys.emplace(member.key());
  }
  const auto text_of = [](const JsonDocument& side, const std::string& key) {
    const auto found = side.root().find(key);
    return found ? json_line(*found) : "none";
  };
  const auto is_list = [](const std::string& value) {
    return value.starts_with('[') || value.starts_with('{');
  };
  std::string text;
  for (const std::string& key : keys) {
    const std::string before = text_of(*a, key);
    const std::string now = text_of(*b, key);
    if (before == now) continue;
    text += is_list(before) || is_list(now)
                ? fmt::format("; {} differ", key)
                : fmt::format("; {}: {} there, {} here", key, before, now);
  }
  return text;
}

options::Values values_of(const results::Cell& cell) {
  options::Values values;
  values.give("strategy", cell.strategy);
  values.give("launch", cell.launch);
  values.give("model", cell.model);
  values.give("backend", cell.backend);
  values.give("devices", std::to_string(cell.devices));
  values.give("batch", std::to_string(cell.global_batch));
  for (const auto& [name, value] : cell.options) {
    const options::Option* const option = options::find_option(name);
    if (option == nullptr) fail(ErrorKind::kUsage, "--{} is no option of step_bench", name);
    values.give(*option, value);
  }
  return values;
}

// Whether the rules of the table say nothing of the cell: another implementation measures it, or it
// is launched as its strategy is not.
bool is_foreign(const results::Cell& cell) {
  const options::StrategyTraits* const traits = options::find_strategy(cell.strategy);
  if (!reports::implementation_of(cell).empty() || traits == nullptr) return true;
  return !traits->has_both_launches && cell.launch != name_of(traits->launch);
}

// Whether step_bench has to judge the cell's options.
bool is_asked_about(const results::Cell& cell) {
  return is_foreign(cell) || std::ranges::any_of(cell.options, [](const auto& given) {
           const options::Option* const option = options::find_option(given.first);
           return option != nullptr && option->is(options::kAsked);
         });
}

// The question that step_bench answers for the cell; cells that share a question share its answer.
std::string question_of(const results::Cell& cell) {
  // A measured model bounds the shares of a batch.
  if (checksummed_file(cell.model)) return cell.name();
  results::Cell question = cell;
  question.global_batch = 0;
  if (is_asked_about(cell)) return question.name();
  const std::string precision = cell.option("precision");
  return precision.empty() ? cell.model : cell.model + "/" + precision;
}

// Why the cell's options do not go together, as step_bench says it; "" where they do, and for a
// cell of another implementation.
std::string refusal_of_options(const results::Cell& cell) {
  if (is_foreign(cell)) return "";
  const auto error = capture_error([&] { options::check(values_of(cell)); });
  return error ? error->what() : "";
}

}  // namespace

void check_not_a_rank(const char* command) {
  const char* const tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  if (tasks != nullptr && std::atoi(tasks) > 1) {
    fail(ErrorKind::kUsage,
         "tandem {} was started by srun as {} tasks; start it alone within the allocation, with "
         "--launcher=srun it calls srun for each launch",
         command, tasks);
  }
  if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr) return;
  fail(ErrorKind::kUsage,
       "tandem {} was started by mpirun; start it alone, it calls mpirun for the launches that "
       "need it",
       command);
}

std::string checked_backend(const std::string& backend) {
  constexpr std::array<std::string_view, 3> kBackends{"auto", "host", "cuda"};
  if (std::ranges::find(kBackends, backend) != kBackends.end()) return backend;
  fail_unknown("--backend", backend, kBackends);
}

bool is_on_host(const std::string& backend) {
  return backend == "host" || (backend == "auto" && !has_nvidia_device());
}

int core_limit(const std::string& backend, bool oversubscribe) {
  if (!is_on_host(backend) || oversubscribe) return 0;
  return results::gather_machine_facts().cores;
}

int all_devices(int asked, const std::string& backend, const LaunchSite& site) {
  if (asked > 0) return asked;
  if (site.is_elsewhere()) return std::accumulate(site.slots.begin(), site.slots.end(), 0);
  return is_on_host(backend) ? results::gather_machine_facts().cores : nvidia_devices();
}

std::chrono::seconds checked_launch_timeout(const std::string& text) {
  const Nanoseconds timeout = parse_duration(text, "--launch-timeout");
  if (timeout < Seconds{1}) {
    fail(ErrorKind::kUsage, "--launch-timeout: '{}' is under 1s, in which no launch ends", text);
  }
  return std::chrono::ceil<std::chrono::seconds>(timeout);
}

std::string checked_comm_timeout(const std::string& text) {
  if (!text.empty()) options::check_form("comm-timeout", text);
  return text;
}

results::Context measuring_context(const std::string& sweep_name,
                                   const std::filesystem::path& step_bench) {
  const results::MachineFacts machine = results::gather_machine_facts();
  results::Context context = results::gather_context((program_folder() / "tandem").string());
  context.custom = {{"tandem_version", TANDEM_VERSION},
                    {"tandem_sweep", sweep_name},
                    {"tandem_cpu_model", machine.cpu_model},
                    {"tandem_cores", std::to_string(machine.cores)}};
  if (!step_bench.empty()) context.custom[kProgramsFact] = checksum_of_programs(step_bench);
  return context;
}

std::optional<OtherFact> other_fact(const results::SweepInfo& found, const results::Context& here,
                                    std::initializer_list<std::string_view> facts) {
  constexpr std::string_view kPrefix = "tandem_";
  for (const std::string_view fact : facts) {
    const std::string key(fact);
    const auto then = found.context.custom.find(key);
    const auto now = here.custom.find(key);
    const bool is_told = then != found.context.custom.end();
    if (is_told && then->second == now->second) continue;
    return OtherFact{key.substr(kPrefix.size()), is_told ? then->second : "", now->second};
  }
  return std::nullopt;
}

void check_same_machine(const results::SweepInfo& found, const results::Context& here,
                        const std::filesystem::path& journal) {
  const auto other =
      other_fact(found, here, {"tandem_cpu_model", "tandem_cores", "tandem_version"});
  if (!other) return;
  fail(ErrorKind::kUsage, "resuming {}: its {} is '{}', here it is '{}'; choose another --out",
       journal.string(), other->name, other->then, other->now);
}

void check_same_programs(const results::SweepInfo& found, const results::Context& here,
                         const std::filesystem::path& journal) {
  const auto then = found.context.custom.find(kProgramsFact);
  const auto now = here.custom.find(kProgramsFact);
  if (then == found.context.custom.end() || now == here.custom.end()) return;
  if (then->second == now->second) return;
  fail(ErrorKind::kUsage,
       "resuming {}: its step_bench, or the CUDA module, was built anew since (checksum {} there, "
       "{} here), and launches of two builds are no sample of one; choose another --out",
       journal.string(), then->second, now->second);
}

void check_same_sweep(const results::SweepInfo& found, const results::SweepInfo& asked,
                      const std::filesystem::path& journal) {
  if (found.definition != asked.definition) {
    fail(ErrorKind::kUsage,
         "resuming {}: it belongs to another sweep or other options ('{}'{}); repeat those or "
         "choose another --out",
         journal.string(), found.name, differences(found.definition, asked.definition));
  }
  check_same_machine(found, asked.context, journal);
  check_same_programs(found, asked.context, journal);
}

bool any_with(results::Status status, const std::vector<results::LaunchRecord>& launches) {
  return std::ranges::any_of(launches, [&](const auto& record) { return record.status == status; });
}

SweepEnd run_or_withdraw(const OutputFolder& folder, const std::function<SweepEnd()>& measure) {
  try {
    return measure();
  } catch (const Error& error) {
    const auto journal = results::read_journal(folder.journal());
    const bool has_measured = journal && any_with(results::Status::kOk, journal->launches);
    if (error.kind() == ErrorKind::kUsage && !has_measured) folder.withdraw();
    throw;
  }
}

void check_options(const std::vector<results::Cell>& cells, const Launcher& launcher,
                   const Interrupts& interrupts) {
  std::map<std::string, std::string> answers;  // step_bench's, by question
  for (const results::Cell& cell : cells) {
    if (interrupts.requested()) return;
    std::string refusal = refusal_of_options(cell);
    if (refusal.empty()) {
      const auto [answer, is_new] = answers.try_emplace(question_of(cell));
      if (is_new) answer->second = launcher.refusal_of(cell, Check::kOptions);
      refusal = answer->second;
    }
    if (!refusal.empty()) {
      fail(ErrorKind::kUsage, "the sweep's cell {}: {}", cell.name(), refusal);
    }
  }
}

void check_apart(const OutputPaths& out, std::vector<std::filesystem::path> inputs,
                 const ModelFiles& models) {
  for (const auto& [name, with_checksum] : models) {
    if (const auto file = checksummed_file(with_checksum)) inputs.emplace_back(file->path);
  }
  out.check_apart("--out", inputs);
}

}  // namespace tandem::cli
