// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/progress.h"

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

Progress::Progress() : terminal_(::isatty(STDERR_FILENO) == 1) {}

void Progress::starting(const std::string& cell, int done, int total,
                        const std::map<std::string, int>& remaining) {
  const Seconds left = time_left(remaining);
  const std::string time = left.count() < 0 ? "" : ", about " + short_time(left) + " left";
  fmt::print(stderr, "{}[{}/{}{}] {}{}", terminal_ ? "\r\x1b[K" : "", done + 1, total, time, cell,
             terminal_ ? "" : "\n");
  std::fflush(stderr);
  line_open_ = terminal_;
}

void Progress::finished(const std::string& cell, Seconds duration) {
  for (Mean* mean : {&all_, &by_cell_[cell]}) {
    mean->sum += duration.count();
    ++mean->count;
  }
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

Seconds Progress::time_left(const std::map<std::string, int>& remaining) const {
  if (all_.count == 0) return Seconds{-1};
  double seconds = 0;
  for (const auto& [cell, launches] : remaining) {
    const auto own = by_cell_.find(cell);
    seconds += launches * (own == by_cell_.end() ? all_.value() : own->second.value());
  }
  return Seconds{seconds};
}

}  // namespace tandem::cli
