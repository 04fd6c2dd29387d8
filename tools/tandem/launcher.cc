// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/launcher.h"

#include <fmt/format.h>

#include <cctype>
#include <cstring>
#include <string>
#include <utility>

#include "common/base/error.h"
#include "common/results/record_text.h"
#include "tools/tandem/child_process.h"
#include "tools/tandem/stderr_reason.h"

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
  return fmt::format("{}.{}", name, launch);
}

std::string with_stderr(const std::string& what, const ChildResult& child) {
  const std::string line = reason_in(child.stderr_text);
  return line.empty() ? what + "; it wrote nothing to stderr" : what + ": " + line;
}

// Why there is no measurement, in one line; empty where the child says that there is one.
std::string failure_of(const ChildResult& child, const std::string& program,
                       std::chrono::seconds timeout) {
  switch (child.end) {
    case End::kNotStarted:
      return fmt::format("starting {}: {}; is it installed and in PATH?", program,
                         std::strerror(child.code));
    case End::kTimedOut:
      // Without a line of stderr: the last one was written long before, about something else.
      return fmt::format("stopped after {} s without an end (--launch-timeout)", timeout.count());
    case End::kSignalled:
      return with_stderr(
          fmt::format("killed by signal {} ({})", child.code, ::strsignal(child.code)), child);
    case End::kExited:
    case End::kInterrupted:
      break;
  }
  if (child.code == 0) return "";
  const std::string line = reason_in(child.stderr_text);
  return line.empty() ? with_stderr(fmt::format("exit code {}", child.code), child) : line;
}

// A record of another cell would be a number under a wrong name.
void check_cell(const LaunchRecord& record, const results::Cell& asked) {
  const results::Cell& got = record.cell;
  if (got.strategy != asked.strategy || got.launch != asked.launch || got.model != asked.model ||
      got.devices != asked.devices || got.global_batch != asked.global_batch) {
    fail(ErrorKind::kFailure, "step_bench left a record of {}; it is not that of the launch",
         got.name());
  }
}

// The record that the child left, as that of this cell: options are those asked for, and the back
// end is the one that `auto` came to. Nothing where it left none.
std::optional<LaunchRecord> take_record(const std::filesystem::path& path,
                                        const results::Cell& cell) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  LaunchRecord record = results::read_record(path);
  std::filesystem::remove(path);
  check_cell(record, cell);
  record.cell.options = cell.options;
  return record;
}

}  // namespace

Launcher::Launcher(LaunchSettings settings, std::filesystem::path logs,
                   std::chrono::seconds timeout, const Interrupts& interrupts)
    : settings_(std::move(settings)),
      logs_(std::move(logs)),
      timeout_(timeout),
      interrupts_(interrupts) {}

std::optional<LaunchOutcome> Launcher::run(const results::Cell& cell, int launch,
                                           double core_gflops) const {
  LaunchSettings settings = settings_;
  settings.core_gflops = core_gflops;
  const std::string name = file_name(cell, launch);
  const std::filesystem::path record_path = logs_ / (name + ".record.json");
  std::filesystem::remove(record_path);
  const ChildRequest request{.arguments = launch_command(cell, settings, record_path),
                             .environment = launch_environment(),
                             .log = logs_ / (name + ".log"),
                             .timeout = timeout_};
  const ChildResult child = run_child(request, interrupts_);
  if (child.end == End::kInterrupted) return std::nullopt;

  LaunchOutcome outcome;
  std::string failure = failure_of(child, request.arguments.front(), timeout_);
  std::optional<LaunchRecord> left;
  try {
    left = take_record(record_path, cell);
    if (!left && failure.empty()) failure = "step_bench ended well, but left no record";
  } catch (const Error& error) {
    if (failure.empty()) failure = error.what();
  }
  // "Skipped" is the child's last word, whatever its exit code; a time counts only where all ended
  // well.
  if (left && (failure.empty() || left->status == Status::kSkipped)) {
    outcome.record = *std::move(left);
  } else {
    outcome.record.cell = cell;
    outcome.record.status = Status::kFailed;
    outcome.record.reason = failure;
    outcome.record.stderr_tail = tail_of(child.stderr_text);
    outcome.usage_error = child.end == End::kExited && child.code == 2;
    outcome.hopeless =
        outcome.usage_error || child.end == End::kNotStarted || child.end == End::kTimedOut;
  }
  outcome.record.launch_index = launch;
  return outcome;
}

}  // namespace tandem::cli
