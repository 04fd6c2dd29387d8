// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/launch/launcher.h"

#include <fmt/format.h>

#include <boost/noncopyable.hpp>
#include <cctype>
#include <csignal>
#include <fstream>
#include <utility>

#include "common/base/checksum.h"
#include "common/base/error.h"
#include "common/json/fields.h"
#include "common/json/parse.h"
#include "common/results/files.h"
#include "tools/tandem/launch/failure_reason.h"
#include "tools/tandem/launch/launch_scratch.h"
#include "tools/tandem/launch/launch_site.h"
#include "tools/tandem/process/child_reason.h"

namespace tandem::cli {
namespace {

using End = ChildResult::End;
using results::LaunchRecord;
using results::Status;

std::string file_name(const results::Cell& cell, int launch) {
  std::string name = cell.name();
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '.') c = '_';
  }
  // A file name has 255 bytes at most, and suffixes take some of them.
  constexpr std::size_t kLongest = 180;
  if (name.size() > kLongest) name = checksum_of(name) + name.substr(name.size() - kLongest);
  return fmt::format("{}.{}", name, launch);
}

// The reason for a missing measurement, in one line; empty where the child reports a measurement.
std::string failure_of(const ChildResult& child, const std::string& program,
                       std::chrono::seconds timeout) {
  if (child.has_exited(0)) return "";
  const std::string reason = reason_of(child, program, timeout);
  return child.end == End::kTimedOut ? reason + " (--launch-timeout)" : reason;
}

// Whether mpirun itself crashed, as Open MPI 4.1 does once in some thousand jobs: where a rank is
// killed, mpirun ends with an exit status.
bool has_launcher_crashed(const ChildResult& child, const std::string& program) {
  return program == "mpirun" && child.end == End::kSignalled && child.code == SIGSEGV;
}

// The flight records of a running launch. The destructor removes the records; keep_as_text() leaves
// a line per rank beside a failed launch's log.
class FlightFolder : boost::noncopyable {
 public:
  explicit FlightFolder(std::filesystem::path path) : path_(std::move(path)) {
    results::remove_all(path_);
    results::make_folder(path_);
  }
  ~FlightFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::vector<FlightRecord> records() const { return read_flight_records(path_); }
  [[nodiscard]] std::string foreign() const { return foreign_flight_records(path_); }

  void keep_as_text() const {
    std::ofstream text(path_.string() + ".txt");
    for (const FlightRecord& record : records()) text << describe(record) << '\n';
  }

 private:
  const std::filesystem::path path_;
};

// The reason of the failure, explained by the ranks' flight records.
std::string explained(const ChildResult& child, const std::string& failure,
                      const FlightFolder& folder) {
  if (failure.empty() || child.end == End::kNotStarted) return failure;
  if (child.has_exited(kUsageExit)) return failure;
  if (const std::string foreign = folder.foreign(); !foreign.empty()) {
    return fmt::format("{} ({})", failure, foreign);
  }
  const std::vector<FlightRecord> flights = folder.records();
  if (child.end == End::kTimedOut) {
    const std::string place = least_far(flights);
    return place.empty() ? failure : fmt::format("{}: {}", failure, place);
  }
  if (child.end == End::kSignalled && !flights.empty()) {
    return fmt::format("{} ({})", failure, least_far(flights));
  }
  const std::string reason = failure_reason(flights, ended_rank_in(child.stderr_text), failure,
                                            lost_node_in(child.stderr_text));
  return reason.empty() ? failure : reason;
}

// The reason for a missing record where the launcher ended with 0, as Open MPI 5 does where it lost
// a node.
std::string reason_of_no_record(const ChildResult& child, const FlightFolder& folder) {
  if (lost_node_in(child.stderr_text).empty()) return "step_bench ended well, but left no record";
  return explained(child, reason_in(child.stderr_text), folder);
}

// Reads the last line that is a JSON object, since a notice may precede that line.
ModelWork model_work_in(const std::filesystem::path& log) {
  ModelWork size;
  std::ifstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    const auto json = object_in(line, log.string());
    if (!json) continue;
    size = {.flops_per_sample = value_or(json->root(), "flops_per_sample", 0.0),
            .parameters = value_or(json->root(), "parameters", 0.0)};
  }
  return size;
}

LaunchScratch::Kind kind_of(const LaunchSite& site, const results::Cell& cell) {
  if (site.is_elsewhere()) return LaunchScratch::Kind::kSeveralNodes;
  const bool has_ranks = cell.launch == "processes" && !cell.is_simulated();
  return has_ranks ? LaunchScratch::Kind::kOneNode : LaunchScratch::Kind::kProcess;
}

LaunchOutcome failed(const results::Cell& cell, const ChildResult& child,
                     const std::string& reason) {
  LaunchOutcome outcome;
  outcome.record.cell = cell;
  outcome.record.status = Status::kFailed;
  outcome.record.reason = reason;
  outcome.record.stderr_tail = tail_of(child.stderr_text);
  outcome.usage_error = child.has_exited(kUsageExit);
  outcome.unreachable = says_no_daemon(child.stderr_text);
  outcome.hopeless =
      outcome.usage_error || child.end == End::kNotStarted || child.end == End::kTimedOut;
  return outcome;
}

// Out of memory is a result, whether ranks are threads or processes and whichever rank met it.
// If the flight records hold the step, that place is added to the record that the launch left.
std::optional<LaunchOutcome> out_of_memory_outcome(const results::Cell& cell,
                                                   const ChildResult& child,
                                                   const std::optional<LaunchRecord>& left,
                                                   const FlightFolder& folder) {
  if (child.end != End::kExited || child.code == 0) return std::nullopt;
  const std::string reason = out_of_memory(folder.records());
  if (reason.empty()) return std::nullopt;
  LaunchOutcome outcome = failed(cell, child, reason);
  if (left) outcome.record = *left;
  outcome.record.status = Status::kSkipped;
  // A simulated record says what would fit.
  const bool says_more = left && cell.is_simulated() && !left->reason.empty();
  outcome.record.reason = says_more ? left->reason : reason;
  return outcome;
}

// Throws on a record of another cell, whose figures would stand under a wrong name.
void check_cell(const LaunchRecord& record, const results::Cell& asked) {
  const results::Cell& got = record.cell;
  if (got.strategy != asked.strategy || got.launch != asked.launch || got.model != asked.model ||
      got.devices != asked.devices || got.global_batch != asked.global_batch) {
    fail(ErrorKind::kFailure, "step_bench left a record of {}; it is not that of the launch",
         got.name());
  }
}

// The child's record with the options of `cell` and the back end that `auto` came to; nothing where
// the child left none. A simulated cell's options name files by their content, as the child has it.
std::optional<LaunchRecord> take_record(const std::filesystem::path& path,
                                        const results::Cell& cell) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  LaunchRecord record = results::read_record(path);
  check_cell(record, cell);
  if (!cell.is_simulated()) record.cell.options = cell.options;
  return record;
}

}  // namespace

Launcher::Launcher(LaunchSettings settings, std::filesystem::path logs,
                   std::chrono::seconds timeout, const Interrupts& interrupts)
    : settings_(std::move(settings)),
      logs_(std::move(logs)),
      timeout_(timeout),
      interrupts_(interrupts) {}

ChildResult Launcher::run_in(const results::Cell& cell, const std::vector<std::string>& command,
                             const std::filesystem::path& log) const {
  const LaunchScratch scratch(kind_of(settings_.site, cell));
  const bool by_srun = settings_.site.launcher == LaunchSite::Launcher::kSrun;
  std::vector<std::string> environment = launch_environment(cell, settings_);
  // srun copies the environment to nodes that do not have these folders.
  if (!by_srun) {
    for (const std::string& variable : scratch.environment()) set_variable(environment, variable);
  }
  const ChildResult child = run_child({.arguments = command,
                                       .environment = std::move(environment),
                                       .log = log,
                                       .timeout = timeout_},
                                      interrupts_);
  const bool was_stopped = child.end == End::kInterrupted || child.end == End::kTimedOut;
  if (by_srun && was_stopped) cancel_own_steps();
  return child;
}

ChildResult Launcher::ask(const results::Cell& cell, Check check,
                          const std::filesystem::path& log) const {
  return run_child({.arguments = check_command(cell, settings_, check),
                    .environment = launch_environment(cell, settings_),
                    .log = log,
                    .timeout = timeout_},
                   interrupts_);
}

// Only a refusal is reported here; the launch itself reports every other failure.
std::string Launcher::refusal_of(const results::Cell& cell, Check check) const {
  const std::filesystem::path log = logs_ / (file_name(cell, 0) + ".check.log");
  const ChildResult child = ask(cell, check, log);
  results::remove_all(log);
  return child.has_exited(kUsageExit) ? reason_in(child.stderr_text) : "";
}

ModelWork Launcher::work_of(const results::Cell& cell) const {
  const auto known = works_.find(cell.model);
  if (known != works_.end()) return known->second;
  const std::filesystem::path log = logs_ / (file_name(cell, 0) + ".model.log");
  const ChildResult child = ask(cell, Check::kModel, log);
  ModelWork size;
  if (child.has_exited(0)) size = model_work_in(log);
  results::remove_all(log);
  if (size != ModelWork{}) works_[cell.model] = size;
  return size;
}

std::optional<LaunchOutcome> Launcher::run(const results::Cell& cell, int launch,
                                           const MachineSpeeds& speeds) const {
  const std::filesystem::path base = logs_ / file_name(cell, launch);
  const std::filesystem::path record_path = base.string() + ".record.json";
  results::remove_all(record_path);  // an old record would be taken for this launch's
  const FlightFolder flights(base.string() + ".flight");
  LaunchSettings settings = settings_;
  settings.speeds = speeds;
  settings.flight_folder = flights.path();
  const std::vector<std::string> command = launch_command(cell, settings, record_path);
  ChildResult child = run_in(cell, command, base.string() + ".log");
  if (has_launcher_crashed(child, command.front())) {
    fmt::print(stderr, "mpirun itself crashed, by signal {}: the launch starts once more\n",
               child.code);
    results::remove_all(record_path);
    child = run_in(cell, command, base.string() + ".log");
  }
  if (child.end == End::kInterrupted) return std::nullopt;

  std::string failure = explained(child, failure_of(child, command.front(), timeout_), flights);
  std::optional<LaunchRecord> left;
  try {
    left = take_record(record_path, cell);
    if (!left && failure.empty()) failure = reason_of_no_record(child, flights);
  } catch (const Error& error) {
    if (failure.empty()) failure = error.what();
  }
  results::remove_all(record_path);  // step_bench makes the file early, to see whether it can write
  // "Skipped" is the child's last word, whatever its exit code; a time counts only where all ended
  // well.
  LaunchOutcome outcome;
  if (auto no_room = out_of_memory_outcome(cell, child, left, flights)) {
    outcome = *std::move(no_room);
  } else if (left && (failure.empty() || left->status == Status::kSkipped)) {
    outcome.record = *std::move(left);
  } else {
    outcome = failed(cell, child, failure);
    flights.keep_as_text();
  }
  constexpr int kLostRank = 3;  // exit status of tools/python/tandem/relay
  outcome.is_last = !settings_.site.program.empty() && child.has_exited(kLostRank);
  outcome.record.launch_index = launch;
  outcome.log = base.string() + ".log";
  return outcome;
}

}  // namespace tandem::cli
