// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/process/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>

#include "common/base/error.h"
#include "tools/tandem/process/exec_pointers.h"
#include "tools/tandem/process/orphans.h"

namespace tandem::cli {
namespace {

using End = ChildResult::End;

constexpr auto kGrace = std::chrono::seconds(5);  // between SIGTERM and SIGKILL
constexpr std::size_t kStderrKept = 64 << 10;

// A descriptor that the destructor closes.
struct Descriptor {
  explicit Descriptor(int number = -1) : value(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  void close() {
    if (value >= 0) ::close(value);
    value = -1;
  }
  int value;
};

struct Pipe {
  Pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) {
      fail(ErrorKind::kFailure, "making a pipe for a child: {}", std::strerror(errno));
    }
    read.value = ends[0];
    write.value = ends[1];
  }
  Descriptor read;
  Descriptor write;
};

// Runs in the child, where nothing may allocate. Reports errno through `failure` where exec fails.
[[noreturn]] void become(char* const* arguments, char* const* environment, int out, int err,
                         int failure, pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);       // the child ends if this program is killed outright
  if (::getppid() != parent) ::_exit(127);  // the parent was killed before prctl
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::execvpe(arguments[0], arguments, environment);
  const int reason = errno;
  [[maybe_unused]] const ssize_t written = ::write(failure, &reason, sizeof(reason));
  ::_exit(127);
}

// A running child and its output.
class Child {
 public:
  explicit Child(const ChildRequest& request)
      : log_(::open(request.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
    Pipe failure;
    const std::vector<char*> arguments = exec_pointers(request.arguments);
    const std::vector<char*> environment = exec_pointers(request.environment);
    const pid_t self = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0) fail(ErrorKind::kFailure, "starting a child: {}", std::strerror(errno));
    if (pid_ == 0) {
      become(arguments.data(), environment.data(), out_.write.value, err_.write.value,
             failure.write.value, self);
    }
    ::setpgid(pid_, pid_);  // parent and child both call setpgid, since either may run first
    for (Descriptor* end : {&out_.write, &err_.write, &failure.write}) end->close();
    for (const int end : {out_.read.value, err_.read.value}) ::fcntl(end, F_SETFL, O_NONBLOCK);
    int reason = 0;
    if (::read(failure.read.value, &reason, sizeof(reason)) == sizeof(reason)) {
      start_error_ = reason;
    }
    watch_.value = static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0));
  }

  [[nodiscard]] std::optional<int> start_error() const { return start_error_; }
  [[nodiscard]] const std::string& stderr_text() const { return stderr_text_; }

  void signal_group(int signal) const { ::kill(-pid_, signal); }

  // Sleeps until the child writes or ends, an interrupt arrives, or `until` is reached.
  void wait(TimePoint until, int interrupt) {
    std::array<pollfd, 4> watched{pollfd{out_.read.value, POLLIN, 0},
                                  pollfd{err_.read.value, POLLIN, 0},
                                  pollfd{watch_.value, POLLIN, 0}, pollfd{interrupt, POLLIN, 0}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    // Kernels without pidfd (before 5.3) need a new check every 100 ms.
    const auto most = watch_.value < 0 ? 100L : 3'600'000L;
    ::poll(watched.data(), watched.size(), static_cast<int>(std::clamp<long>(left, 0, most)));
    drain();
  }

  // The exit state from waitpid, once the child has ended.
  [[nodiscard]] std::optional<int> ended() {
    if (!state_) {
      int state = 0;
      if (::waitpid(pid_, &state, WNOHANG) == pid_) state_ = state;
    }
    return state_;
  }

  void drain() {
    drain(out_.read, nullptr);
    drain(err_.read, &stderr_text_);
  }

 private:
  void drain(Descriptor& from, std::string* keep) {
    std::array<char, 4096> buffer;
    for (;;) {
      const ssize_t count = from.value < 0 ? -1 : ::read(from.value, buffer.data(), buffer.size());
      if (count == 0) from.close();  // an open descriptor at its end would wake poll() for ever
      if (count <= 0) return;
      const auto size = static_cast<std::size_t>(count);
      [[maybe_unused]] const ssize_t written = ::write(log_.value, buffer.data(), size);
      if (keep == nullptr) continue;
      keep->append(buffer.data(), size);
      if (keep->size() > 2 * kStderrKept) keep->erase(0, keep->size() - kStderrKept);
    }
  }

  Descriptor log_;
  Pipe out_;
  Pipe err_;
  Descriptor watch_;
  pid_t pid_ = -1;
  std::optional<int> start_error_;
  std::optional<int> state_;
  std::string stderr_text_;
};

// Waits for the child's end, until `until` at most. `interrupt` is -1 where signals no longer
// matter.
void wait_for_end(Child& child, TimePoint until, int interrupt, const Interrupts& interrupts) {
  while (!child.ended() && Clock::now() < until) {
    if (interrupt >= 0 && interrupts.requested()) return;
    child.wait(until, interrupt);
  }
}

void stop(Child& child, const Interrupts& interrupts) {
  child.signal_group(SIGTERM);
  wait_for_end(child, Clock::now() + kGrace, -1, interrupts);
  child.signal_group(SIGKILL);
  wait_for_end(child, Clock::now() + kGrace, -1, interrupts);
}

void read_state(ChildResult& result, int state) {
  result.end = WIFSIGNALED(state) ? End::kSignalled : End::kExited;
  result.code = WIFSIGNALED(state) ? WTERMSIG(state) : WEXITSTATUS(state);
}

}  // namespace

ChildResult run_child(const ChildRequest& request, const Interrupts& interrupts) {
  adopt_orphans();
  const TimePoint start = Clock::now();
  ChildResult result;
  Child child(request);
  wait_for_end(child, start + request.timeout, interrupts.descriptor(), interrupts);
  if (child.start_error()) {
    result.end = End::kNotStarted;
    result.code = *child.start_error();
  } else if (const std::optional<int> state = child.ended(); state) {
    read_state(result, *state);
  } else {
    result.end = interrupts.requested() ? End::kInterrupted : End::kTimedOut;
  }
  if (!child.ended()) stop(child, interrupts);
  child.signal_group(SIGKILL);
  kill_orphans();
  child.drain();
  result.stderr_text = child.stderr_text();
  result.duration = Clock::now() - start;
  return result;
}

}  // namespace tandem::cli
