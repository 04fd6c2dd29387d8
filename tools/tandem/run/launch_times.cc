// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/launch_times.h"

#include <numeric>

namespace tandem::cli {

Seconds start_and_end(const results::Cell& cell) {
  return Seconds{cell.options.contains("implementation") ? 4.0 : 1.0};
}

Seconds time_of(const results::LaunchRecord& record) {
  const std::vector<double>& samples = record.step_seconds;
  return start_and_end(record.cell) + Seconds{record.first_step_seconds + record.warmup_seconds +
                                              std::accumulate(samples.begin(), samples.end(), 0.0)};
}

void LaunchTimes::add(std::size_t cell, Seconds time) {
  by_cell_[cell].sum += time;
  ++by_cell_[cell].count;
  taken_ += time;
  foreseen_ += expected_[cell];
}

Seconds LaunchTimes::of(std::size_t cell) const {
  if (by_cell_[cell].count > 0) return by_cell_[cell].value();
  return foreseen_ > Seconds{0} ? expected_[cell] * (taken_ / foreseen_) : expected_[cell];
}

Seconds LaunchTimes::total(const std::vector<int>& launches) const {
  Seconds sum{0};
  for (std::size_t cell = 0; cell < launches.size(); ++cell) sum += launches[cell] * of(cell);
  return sum;
}

}  // namespace tandem::cli
