// SPDX-License-Identifier: Apache-2.0
#include "bench/driver/interrupt_notice.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <string_view>

#include "common/comm/bootstrap.h"

namespace tandem::bench {
namespace {

// The text that the signal handler writes: filled in before the handler is installed.
std::array<char, 160> notice;
std::size_t notice_size = 0;

// The signal has its default action again by now: raised once more, the signal ends the process as
// soon as this handler returns.
extern "C" void say_and_end(int signal) {
  static_cast<void>(::write(STDERR_FILENO, notice.data(), notice_size));
  static_cast<void>(::raise(signal));
}

}  // namespace

void tell_of_interrupt(const std::string& program) {
  struct sigaction before {};
  const bool is_known = ::sigaction(SIGINT, nullptr, &before) == 0;
  if (!is_known || before.sa_handler != SIG_DFL || announced_rank() != 0) return;
  const std::string text = program + ": interrupted: what was measured is lost; start it again\n";
  notice_size = std::min(text.size(), notice.size());
  std::copy_n(text.begin(), notice_size, notice.begin());
  struct sigaction action {};
  action.sa_handler = say_and_end;
  action.sa_flags = static_cast<int>(SA_RESETHAND);  // SA_RESETHAND is unsigned in glibc
  static_cast<void>(::sigaction(SIGINT, &action, nullptr));
}

}  // namespace tandem::bench
