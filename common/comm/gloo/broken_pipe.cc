// SPDX-License-Identifier: Apache-2.0
#include "common/comm/gloo/broken_pipe.h"

#include <ctime>

namespace tandem {
namespace {

sigset_t broken_pipe() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGPIPE);
  return set;
}

bool is_pending() {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, SIGPIPE) == 1;
}

}  // namespace

BrokenPipeIsAnError::BrokenPipeIsAnError() : was_pending_(is_pending()) {
  const sigset_t set = broken_pipe();
  pthread_sigmask(SIG_BLOCK, &set, &before_);
}

// The kernel sends the signal to the thread that wrote, so the signal is pending by now.
BrokenPipeIsAnError::~BrokenPipeIsAnError() {
  if (!was_pending_ && is_pending()) {
    const sigset_t set = broken_pipe();
    const timespec at_once{};
    sigtimedwait(&set, nullptr, &at_once);
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

void keep_broken_pipe_an_error() {
  thread_local bool is_kept = false;
  if (is_kept) return;
  const sigset_t set = broken_pipe();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  is_kept = true;
}

}  // namespace tandem
