// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/process/child_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/noncopyable.hpp>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>

#include "common/base/error.h"

namespace tandem::cli {

namespace {

using End = ChildResult::End;

constexpr std::chrono::milliseconds kGrace{5000};  // between SIGTERM and SIGKILL
constexpr std::size_t kStderrKept = 64 << 10;
constexpr int kNotStarted = 127;  // exit status of a child that could not become the command

// The arguments of exec: pointers into `texts`, then a null pointer. `texts` must outlive the
// result.
std::vector<char*> exec_pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

// From this call on, descendants whose parent dies become children of this process instead of
// init's, so that ranks of a killed mpirun can be found.
void adopt_orphans() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::vector<pid_t> children() {
  std::ifstream file(fmt::format("/proc/self/task/{}/children", ::getpid()));
  std::vector<pid_t> found;
  for (pid_t child = 0; file >> child;) found.push_back(child);
  return found;
}

// Kills and reaps all children of this process, adopted children too.
void kill_orphans() {
  // A killed child may hand down children of its own, so the loop runs until no child is left.
  // If the kernel does not list children, the group's SIGKILL has to do.
  for (std::vector<pid_t> found = children(); !found.empty(); found = children()) {
    for (const pid_t child : found) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }
}

// A descriptor that the destructor closes.
struct Descriptor : private boost::noncopyable {
  explicit Descriptor(int number = -1) : value(number) {}
  ~Descriptor() { close(); }
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

// Writes all bytes; false where the descriptor takes no more.
bool write_all(int to, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(to, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    data += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

// Runs in the child, where nothing may allocate. Reports errno through `failure` where exec fails.
[[noreturn]] void become(char* const* arguments, char* const* environment, int out, int err,
                         int failure, pid_t parent, const sigset_t& before) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);  // the child ends if this program is killed outright
  if (::getppid() != parent) ::_exit(kNotStarted);  // the parent was killed before prctl
  // The child inherits neither this program's handlers, which would swallow a signal, nor the
  // blocking of signals around fork(): a signal that arrived meanwhile is pending.
  ::signal(SIGPIPE, SIG_DFL);
  for (const int signal : kInterruptSignals) ::signal(signal, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, &before, nullptr);
  const int nothing = ::open("/dev/null", O_RDONLY);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(err, STDERR_FILENO);
  ::execvpe(arguments[0], arguments, environment);
  const int reason = errno;
  [[maybe_unused]] const ssize_t written = ::write(failure, &reason, sizeof(reason));
  ::_exit(kNotStarted);
}

// A running child and its output.
class Child {
 public:
  explicit Child(const ChildRequest& request)
      : is_relayed_(request.log.empty()),
        log_(is_relayed_
                 ? ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)
                 : ::open(request.log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
    Pipe failure;
    const std::vector<char*> arguments = exec_pointers(request.arguments);
    const std::vector<char*> environment = exec_pointers(request.environment);
    const pid_t self = ::getpid();
    sigset_t all;
    sigset_t before;
    ::sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &before);
    pid_ = ::fork();
    if (pid_ == 0) {
      become(arguments.data(), environment.data(), out_.write.value,
             is_relayed_ ? STDERR_FILENO : err_.write.value, failure.write.value, self, before);
    }
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    if (pid_ < 0) fail(ErrorKind::kFailure, "starting a child: {}", std::strerror(errno));
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
  // Whether the reader of a relayed child's output is gone.
  [[nodiscard]] bool is_unheard() const { return is_relayed_ && !is_taken_; }

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
      if (count <= 0 || is_unheard()) return;
      const auto size = static_cast<std::size_t>(count);
      is_taken_ = is_taken_ && write_all(log_.value, buffer.data(), size);
      if (keep == nullptr) continue;
      keep->append(buffer.data(), size);
      if (keep->size() > 2 * kStderrKept) keep->erase(0, keep->size() - kStderrKept);
    }
  }

  const bool is_relayed_;
  Descriptor log_;        // a relayed child's is this program's stdout
  bool is_taken_ = true;  // whether the log took all output so far
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
    if (interrupt >= 0 && (interrupts.requested() || child.is_unheard())) return;
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

// Runs the child to its end, or ends the child at `until`, after an interrupt and where nobody
// reads what the child says.
ChildResult run_to_end(Child& child, TimePoint until, const Interrupts& interrupts) {
  const TimePoint start = Clock::now();
  ChildResult result;
  wait_for_end(child, until, interrupts.descriptor(), interrupts);
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

// The state that a signal handler may touch: plain numbers, which no destructor can destroy while
// the handler runs.
volatile std::sig_atomic_t signal_seen = 0;
volatile std::sig_atomic_t wake_descriptor = -1;

void on_signal(int signal) {
  const int kept = errno;
  if (signal_seen == 0) signal_seen = signal;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_descriptor, &one, sizeof(one));
  errno = kept;
}

void handle(void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  for (const int signal : kInterruptSignals) {
    struct sigaction before {};
    ::sigaction(signal, nullptr, &before);
    const bool is_nohup = signal == SIGHUP && before.sa_handler == SIG_IGN;
    if (!is_nohup) ::sigaction(signal, &action, nullptr);
  }
}

// Ends the process after a line, with the status of other interrupted commands.
void end_with_a_line(int signal) {
  constexpr std::string_view kLine =
      "tandem: interrupted; what launches have measured is kept, run the same command again\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kLine.data(), kLine.size());
  ::_exit(128 + signal);
}

}  // namespace

Interrupts::Interrupts() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_ < 0) fail(ErrorKind::kFailure, "eventfd: no descriptor left");
  signal_seen = 0;
  wake_descriptor = descriptor_;
  handle(on_signal);
}

Interrupts::~Interrupts() {
  handle(end_with_a_line);
  ::close(descriptor_);
}

void say_when_interrupted() { handle(end_with_a_line); }

int interrupted_exit() { return 128 + (signal_seen == 0 ? SIGINT : signal_seen); }

bool Interrupts::requested() const { return signal_seen != 0; }

ChildResult run_child(const ChildRequest& request, const Interrupts& interrupts) {
  adopt_orphans();
  const TimePoint until = Clock::now() + request.timeout;
  Child child(request);
  return run_to_end(child, until, interrupts);
}

std::string output_of(const std::string& command, int* state) {
  std::string text;
  std::FILE* const pipe = ::popen(command.c_str(), "r");
  std::array<char, 4096> part{};
  while (const std::size_t count =
             pipe == nullptr ? 0 : std::fread(part.data(), 1, part.size(), pipe)) {
    text.append(part.data(), count);
  }
  const int ended = pipe == nullptr ? -1 : ::pclose(pipe);
  if (state != nullptr) *state = ended;
  return text;
}

int run_relayed(const std::vector<std::string>& arguments,
                const std::vector<std::string>& environment, const Interrupts& interrupts) {
  adopt_orphans();
  ::signal(SIGPIPE, SIG_IGN);
  Child child({.arguments = arguments, .environment = environment});
  const ChildResult result = run_to_end(child, TimePoint::max(), interrupts);
  if (result.end == End::kNotStarted) {
    fail(ErrorKind::kFailure, "starting {}: is it installed and in PATH?", arguments.front());
  }
  if (interrupts.requested()) return interrupted_exit();
  if (child.is_unheard()) return 0;
  return result.end == End::kExited ? result.code : 1;
}

}  // namespace tandem::cli
