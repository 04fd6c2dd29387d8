// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/base/clock.h"

namespace tandem::cli {

// Says on stderr what runs, how far the sweep is and how long it will take: one line that is
// rewritten on a terminal, plain lines elsewhere.
class Progress {
 public:
  Progress();

  // Before a launch, with the time that all still to run will take and the cell's figure so far, in
  // words; empty: none yet.
  void starting(const std::string& cell, int done, int total, Seconds left,
                const std::string& figure);
  // A line that stays.
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
