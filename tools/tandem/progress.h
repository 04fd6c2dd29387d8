// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "common/base/clock.h"

namespace tandem::cli {

// Says on stderr what runs, how far the sweep is and how long it will take: one line that is
// rewritten on a terminal, plain lines elsewhere.
class Progress {
 public:
  Progress();

  // Before a launch. `remaining` counts the launches still to run, by cell name.
  void starting(const std::string& cell, int done, int total,
                const std::map<std::string, int>& remaining);
  // After it.
  void finished(const std::string& cell, Seconds duration);
  // A line that stays.
  void say(const std::string& line);
  void end();

  // From the launches of this run: a cell's own mean, or that of all where it has none yet.
  // Negative before the first launch.
  [[nodiscard]] Seconds time_left(const std::map<std::string, int>& remaining) const;

 private:
  struct Mean {
    double sum = 0;
    int count = 0;
    [[nodiscard]] double value() const { return sum / count; }
  };

  bool terminal_ = false;
  bool line_open_ = false;
  Mean all_;
  std::map<std::string, Mean> by_cell_;
};

// "45s", "3m05s", "2h10m"
[[nodiscard]] std::string short_time(Seconds time);

}  // namespace tandem::cli
