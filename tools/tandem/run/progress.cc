// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>

namespace tandem::cli {

std::string short_time(Seconds time) {
  const long seconds = std::lround(time.count());
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
  return fmt::format("{}h{:02}m", seconds / 3600, seconds % 3600 / 60);
}

std::string short_step(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.1f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

Progress::Progress() : terminal_(::isatty(STDERR_FILENO) == 1) {}

void Progress::starting(const std::string& cell, int done, int total, Seconds left,
                        const std::string& figure) {
  fmt::print(stderr, "{}[{}/{}, about {} left] {}{}{}", terminal_ ? "\r\x1b[K" : "", done + 1,
             total, short_time(left), cell, figure.empty() ? "" : ": " + figure + " so far",
             terminal_ ? "" : "\n");
  std::fflush(stderr);
  line_open_ = terminal_;
}

void Progress::say(const std::string& line) {
  end();
  fmt::print(stderr, "{}\n", line);
}

void Progress::end() {
  if (line_open_) fmt::print(stderr, "\r\x1b[K");
  line_open_ = false;
  std::fflush(stderr);
}

}  // namespace tandem::cli
