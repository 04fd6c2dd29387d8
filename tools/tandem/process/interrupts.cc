// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/process/interrupts.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

#include "common/base/error.h"

namespace tandem::cli {
namespace {

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
  for (const int signal : kInterruptSignals) ::sigaction(signal, &action, nullptr);
}

}  // namespace

Interrupts::Interrupts() : descriptor_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (descriptor_ < 0) fail(ErrorKind::kFailure, "eventfd: no descriptor left");
  signal_seen = 0;
  wake_descriptor = descriptor_;
  handle(on_signal);
}

Interrupts::~Interrupts() {
  handle(SIG_DFL);
  ::close(descriptor_);
}

int interrupted_exit() { return 128 + (signal_seen == 0 ? SIGINT : signal_seen); }

bool Interrupts::requested() const { return signal_seen != 0; }

}  // namespace tandem::cli
