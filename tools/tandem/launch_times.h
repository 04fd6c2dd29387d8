// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/base/clock.h"
#include "common/results/launch_record.h"

namespace tandem::cli {

// Of a launch that measured: from its samples and what was discarded before them, with an allowance
// for starting and ending its processes.
[[nodiscard]] Seconds time_of(const results::LaunchRecord& record);

// Before anything was measured: starting, warm-up and the samples that `min_time` asks for, a text
// as "500ms". Steps so slow that `min_samples` of them take longer are not foreseen.
[[nodiscard]] Seconds expected_time(const std::string& min_time);

// How long launches take, by cell: a cell's own mean, that of all where it has none yet, and what
// was expected before the first launch.
class LaunchTimes {
 public:
  LaunchTimes(std::size_t cells, Seconds expected) : expected_(expected), by_cell_(cells) {}

  void add(std::size_t cell, Seconds time);

  [[nodiscard]] Seconds of(std::size_t cell) const;
  // Of so many launches of each cell.
  [[nodiscard]] Seconds total(const std::vector<int>& launches) const;

 private:
  struct Mean {
    Seconds sum{0};
    int count = 0;
    [[nodiscard]] Seconds value() const { return sum / count; }
  };

  Seconds expected_;
  Mean all_;
  std::vector<Mean> by_cell_;
};

}  // namespace tandem::cli
