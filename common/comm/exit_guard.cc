// SPDX-License-Identifier: Apache-2.0
#include "common/comm/exit_guard.h"

#include <unistd.h>

#include <utility>

#include "common/base/capture_error.h"

namespace tandem {

ExitGuard::ExitGuard(std::string message, Nanoseconds patience, int exit_code, LastWords last) {
  const TimePoint deadline = Clock::now() + patience;
  // Without room for a thread the call goes unguarded: that is no reason not to make it.
  static_cast<void>(capture_error([&] {
    thread_ = std::thread(
        [this, deadline, exit_code, last = std::move(last), text = std::move(message)]() mutable {
          if (host::park_while(returned_, 0, host::Sharing::kThreads, deadline)) return;
          if (last) last(text);
          text += '\n';
          [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text.data(), text.size());
          ::_exit(exit_code);
        });
  }));
}

ExitGuard::~ExitGuard() {
  returned_.store(1, std::memory_order_release);
  host::wake_all(returned_, host::Sharing::kThreads);
  if (thread_.joinable()) thread_.join();
}

}  // namespace tandem
