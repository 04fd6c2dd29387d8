// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "tools/tandem/interrupts.h"

namespace tandem::cli {

struct ChildRequest {
  std::vector<std::string> arguments;    // the first is looked up in PATH where it has no slash
  std::vector<std::string> environment;  // "NAME=value", all of it
  std::filesystem::path log;             // receives stdout and stderr as they come
  std::chrono::seconds timeout{600};
};

struct ChildResult {
  enum class End { kExited, kSignalled, kTimedOut, kInterrupted, kNotStarted };
  End end = End::kNotStarted;
  int code = 0;             // exit status, signal number, or errno of a start that failed
  std::string stderr_text;  // its last 64 KiB
  Seconds duration{0};
};

// Runs a command in a process group of its own and waits for it, asleep: this process must not
// take time from the cores that are being measured. On a timeout or an interrupt the group gets
// SIGTERM, then SIGKILL; whatever it leaves behind is killed in any case, for ranks that mpirun
// started sit in groups of their own. Not for use beside other child processes.
[[nodiscard]] ChildResult run_child(const ChildRequest& request, const Interrupts& interrupts);

}  // namespace tandem::cli
