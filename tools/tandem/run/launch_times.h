// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "common/base/clock.h"
#include "common/results/launch_record.h"

namespace tandem::cli {

// The time to start and end processes under mpirun on an idle machine; a cell of torch takes a few
// seconds more, for the import.
[[nodiscard]] Seconds start_and_end(const results::Cell& cell);

// The duration of a launch that measured: its samples and discarded steps, and an allowance for
// starting and ending the processes.
[[nodiscard]] Seconds time_of(const results::LaunchRecord& record);

// The duration of launches by cell: the mean of the cell's own launches. A cell without launches
// takes its expected time, scaled by the ratio of measured to expected time over all launches so
// far.
class LaunchTimes {
 public:
  explicit LaunchTimes(std::vector<Seconds> expected)
      : expected_(std::move(expected)), by_cell_(expected_.size()) {}

  void add(std::size_t cell, Seconds time);

  [[nodiscard]] Seconds of(std::size_t cell) const;
  // The time for the given number of launches of each cell.
  [[nodiscard]] Seconds total(const std::vector<int>& launches) const;

 private:
  struct Mean {
    Seconds sum{0};
    int count = 0;
    [[nodiscard]] Seconds value() const { return sum / count; }
  };

  std::vector<Seconds> expected_;
  Seconds taken_{0};     // measured time of all launches so far
  Seconds foreseen_{0};  // expected time of the same launches
  std::vector<Mean> by_cell_;
};

}  // namespace tandem::cli
