// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "tools/tandem/process/interrupts.h"

namespace tandem::cli {

struct ChildRequest {
  std::vector<std::string> arguments;    // a program without a slash is looked up in PATH
  std::vector<std::string> environment;  // every variable, as "NAME=value"
  std::filesystem::path log;             // receives stdout and stderr as the child writes
  std::chrono::seconds timeout{600};
};

struct ChildResult {
  enum class End { kExited, kSignalled, kTimedOut, kInterrupted, kNotStarted };
  End end = End::kNotStarted;
  int code = 0;             // exit status, signal number, or errno of a start that failed
  std::string stderr_text;  // the last 64 KiB of stderr
  Seconds duration{0};
};

// Runs a command in a process group of its own and sleeps until the command ends: this process must
// not take time from the cores that are being measured. On a timeout or an interrupt the group gets
// SIGTERM, then SIGKILL. Processes that the command leaves behind are killed in any case, since
// ranks that mpirun started sit in groups of their own. The function must not run beside other
// child processes.
[[nodiscard]] ChildResult run_child(const ChildRequest& request, const Interrupts& interrupts);

}  // namespace tandem::cli
