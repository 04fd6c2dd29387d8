// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/process/relay.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "common/base/error.h"
#include "tools/tandem/process/exec_pointers.h"
#include "tools/tandem/run/measuring.h"

namespace tandem::cli {
namespace {

constexpr int kNotStarted = 127;
constexpr int kGraceMilliseconds = 5000;  // between SIGTERM and SIGKILL

[[noreturn]] void become(char* const* arguments, char* const* environment, int output) {
  // The command must not inherit this process's signal handling; a signal that arrived meanwhile is
  // pending.
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) ::signal(signal, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(output, STDOUT_FILENO);
  ::execvpe(arguments[0], arguments, environment);
  ::_exit(kNotStarted);
}

// Writes to stdout; false once the reader of stdout is gone.
bool pass_on(const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(STDOUT_FILENO, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    data += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

// Relays until the command closes its output. Returns true where stdout took all of the output.
bool relay(int input, pid_t child, const Interrupts& interrupts) {
  bool has_reader = true;
  bool asked_to_end = false;
  for (std::array<char, 4096> buffer;;) {
    if ((!has_reader || interrupts.requested()) && !asked_to_end) {
      asked_to_end = true;
      ::kill(child, SIGTERM);
    }
    std::array<pollfd, 2> ready{{{input, POLLIN, 0}, {interrupts.descriptor(), POLLIN, 0}}};
    const nfds_t watched = asked_to_end ? 1 : 2;
    const int found = ::poll(ready.data(), watched, asked_to_end ? kGraceMilliseconds : -1);
    if (found < 0 && errno != EINTR) break;
    if (found == 0) ::kill(child, SIGKILL);
    if (ready[0].revents == 0) continue;
    const ssize_t got = ::read(input, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    if (has_reader) has_reader = pass_on(buffer.data(), static_cast<std::size_t>(got));
  }
  return has_reader;
}

}  // namespace

int run_relayed(const RelayRequest& request, const Interrupts& interrupts) {
  const std::vector<char*> arguments = exec_pointers(request.arguments);
  const std::vector<char*> environment = exec_pointers(request.environment);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    fail(ErrorKind::kFailure, "starting {}: {}", request.arguments.front(), std::strerror(errno));
  }
  ::signal(SIGPIPE, SIG_IGN);
  // Signals are blocked between fork and exec: this process's handler would swallow a signal in the
  // child.
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, &before);
  const pid_t child = ::fork();
  if (child == 0) become(arguments.data(), environment.data(), ends[1]);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  ::close(ends[1]);
  const bool has_reader = child > 0 && relay(ends[0], child, interrupts);
  ::close(ends[0]);
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) != child ||
      (WIFEXITED(status) && WEXITSTATUS(status) == kNotStarted)) {
    fail(ErrorKind::kFailure, "starting {}: is it installed and in PATH?",
         request.arguments.front());
  }
  if (interrupts.requested()) return kInterruptedExit;
  if (!has_reader) return 0;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

}  // namespace tandem::cli
