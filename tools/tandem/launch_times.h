// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/results/launch_record.h"

namespace tandem::cli {

// Starting and ending processes under mpirun on a machine that is not busy; importing torch, where
// it is torch's cell, takes a few seconds more.
[[nodiscard]] Seconds start_and_end(const results::Cell& cell);

// Of a launch that measured: from its samples and what was discarded before them, with an allowance
// for starting and ending its processes.
[[nodiscard]] Seconds time_of(const results::LaunchRecord& record);

// How long launches take, by cell: a cell's own mean, and where it has none yet, what was expected
// of it, times what launches so far took over what was expected of them.
class LaunchTimes {
 public:
  explicit LaunchTimes(std::vector<Seconds> expected)
      : expected_(std::move(expected)), by_cell_(expected_.size()) {}

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

  std::vector<Seconds> expected_;
  Seconds taken_{0};     // by all launches so far
  Seconds foreseen_{0};  // for them
  std::vector<Mean> by_cell_;
};

}  // namespace tandem::cli
