// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <boost/noncopyable.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/base/units.h"

namespace tandem::cli {

inline constexpr int kUsageExit = 2;  // of this project's programs

// The signals that ask for an orderly end.
inline constexpr std::array kInterruptSignals{SIGINT, SIGTERM, SIGHUP};

// The exit status of a command that a signal asked to end, as shells give it: 128 and the signal's
// number, 130 for SIGINT, 143 for SIGTERM.
[[nodiscard]] int interrupted_exit();

// The command was not run to its end, since a signal asked to end.
class Interrupted : public Error {
 public:
  explicit Interrupted(const std::string& what)
      : Error(ErrorKind::kFailure,
              what + ": interrupted, and left nothing; run the same command again") {}
};

// From now on kInterruptSignals end the process with a line on stderr. To be called first in main.
void say_when_interrupted();

// While an Interrupts object lives, kInterruptSignals ask for an orderly end instead of ending the
// process. Only one object may live at a time. descriptor() becomes readable with the first signal,
// so that poll() wakes.
class Interrupts : boost::noncopyable {
 public:
  Interrupts();
  ~Interrupts();

  [[nodiscard]] bool requested() const;
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_ = -1;
};

struct ChildRequest {
  std::vector<std::string> arguments;    // a program without a slash is looked up in PATH
  std::vector<std::string> environment;  // every variable, as "NAME=value"
  std::filesystem::path log{};           // receives stdout and stderr as the child writes
  std::chrono::seconds timeout{600};
};

struct ChildResult {
  enum class End { kExited, kSignalled, kTimedOut, kInterrupted, kNotStarted };
  End end = End::kNotStarted;
  int code = 0;               // exit status, signal number, or errno of a start that failed
  std::string stderr_text{};  // the last 64 KiB of stderr
  Seconds duration{0};

  [[nodiscard]] bool has_exited(int status) const { return end == End::kExited && code == status; }
};

// Runs a command in a process group of its own and sleeps until the command ends: this process must
// not take time from the cores that are being measured. On a timeout or an interrupt the group gets
// SIGTERM, then SIGKILL. Processes that the command leaves behind are killed in any case, since
// ranks that mpirun started sit in groups of their own. The function must not run beside other
// child processes.
[[nodiscard]] ChildResult run_child(const ChildRequest& request, const Interrupts& interrupts);

// Runs a command in the shell, waits for its end and returns what the command wrote to stdout;
// empty where the command cannot be started. `state` receives how it ended, as waitpid() reports
// it; -1 where it was not started.
[[nodiscard]] std::string output_of(const std::string& command, int* state = nullptr);

// Runs a command as run_child() does, without a time-out, and passes on its stdout as the command
// writes; the command shares this process's stderr. mpirun crashes where the reader of its output
// goes away, so this process then ends the command quietly. Returns the command's exit status, 1
// where a signal ended the command, 130 after an interrupt. Throws a failure where the command
// cannot be started.
[[nodiscard]] int run_relayed(const std::vector<std::string>& arguments,
                              const std::vector<std::string>& environment,
                              const Interrupts& interrupts);

}  // namespace tandem::cli
