// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "common/base/units.h"
#include "common/results/launch_record.h"
#include "tools/tandem/launch/launcher.h"
#include "tools/tandem/process/child_process.h"

namespace tandem::cli {

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

// The time that a launch of each cell needs, before any measurement: starting, making the model,
// warm-up and samples, at the FLOP/s of an ordinary core or GPU. Asks step_bench about each model,
// until there is an interrupt. All cells have one back end.
[[nodiscard]] std::vector<Seconds> expected_times(const std::vector<results::Cell>& cells,
                                                  const Launcher& launcher,
                                                  const Interrupts& interrupts);

// The expected time of one cell's launch, where the model's size is known. Pure.
[[nodiscard]] Seconds expected_time(const results::Cell& cell, const ModelWork& size,
                                    const LaunchSettings& settings, bool is_host);

// A launch that starts.
struct Announcement {
  results::Cell cell{};
  int done = 0;
  int total = 0;
  Seconds left{0};                  // that all remaining launches need
  std::vector<std::string> open{};  // what is still to be decided, from the longest to the shortest
  std::string known{};              // of the cell so far
};

// As much about the launch as so many columns hold, without an end: what is open goes before what
// is known, and the cell before both. Pure.
[[nodiscard]] std::string progress_line(const Announcement& launch, std::size_t columns);

// Prints to stderr what runs, how far the sweep is and how long the rest will take: one line that
// is rewritten at a terminal, elsewhere a line every ten seconds.
class Progress {
 public:
  Progress();

  void starting(const Announcement& launch);
  // Prints a line that stays.
  void say(const std::string& line);
  void end();

 private:
  bool rewrites_ = false;
  std::size_t open_width_ = 0;  // of the line that stands open
};

// "45s", "3m05s", "2h10m"
[[nodiscard]] std::string short_time(Seconds time);

}  // namespace tandem::cli
