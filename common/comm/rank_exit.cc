// SPDX-License-Identifier: Apache-2.0
#include "common/comm/rank_exit.h"

#include <unistd.h>

#include <string>

#include "common/base/error.h"
#include "common/runtime/host/parking.h"

namespace tandem {

void RankExit::report(const Error& error) const {
  if (on_error) on_error(error);
}

// Only a communication error waits: an error of this rank's own needs no other rank's report.
void RankExit::leave(const Error& error) const {
  if (error.kind() == ErrorKind::kCommunication) host::sleep_until(Clock::now() + grace);
  if (on_end) on_end();
}

void RankExit::end_process(const Error& error, int exit_code) const {
  report(error);
  const std::string line = std::string(error.what()) + '\n';
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line.data(), line.size());
  leave(error);
  ::_exit(exit_code);
}

ExitGuard::ExitGuard(const Error& error, Nanoseconds patience, const RankExit& rank_exit,
                     int exit_code) {
  const TimePoint deadline = Clock::now() + patience;
  // If no thread can be started the call goes unguarded, which is better than no call.
  static_cast<void>(capture_error([&] {
    thread_ =
        std::thread([this, own = error.reworded(error.what()), deadline, rank_exit, exit_code] {
          leave_unless_returned(own, deadline, rank_exit, exit_code);
        });
  }));
}

ExitGuard::~ExitGuard() {
  returned_.store(1, std::memory_order_release);
  host::wake_all(returned_, host::Sharing::kThreads);
  if (thread_.joinable()) thread_.join();
}

void ExitGuard::leave_unless_returned(const Error& error, TimePoint deadline,
                                      const RankExit& rank_exit, int exit_code) const {
  if (host::park_while(returned_, 0, host::Sharing::kThreads, deadline)) return;
  rank_exit.end_process(error, exit_code);
}

}  // namespace tandem
