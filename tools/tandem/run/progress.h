// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/base/clock.h"

namespace tandem::cli {

// Prints to stderr what runs, how far the sweep is and how long the rest will take: one line that
// is rewritten on a terminal, plain lines elsewhere.
class Progress {
 public:
  Progress();

  // Announces a launch, with the time that all remaining launches need and the cell's figure so
  // far, in words; empty: no figure yet.
  void starting(const std::string& cell, int done, int total, Seconds left,
                const std::string& figure);
  // Prints a line that stays.
  void say(const std::string& line);
  void end();

 private:
  bool terminal_ = false;
  bool line_open_ = false;
};

// "12.3 ms"
[[nodiscard]] std::string short_step(double seconds);

// "45s", "3m05s", "2h10m"
[[nodiscard]] std::string short_time(Seconds time);

}  // namespace tandem::cli
