// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/launch_times.h"

#include <numeric>

#include "common/base/units.h"

namespace tandem::cli {
namespace {

constexpr Seconds kStartAndEnd{1.0};  // of processes under mpirun on a machine that is not busy
constexpr Seconds kWarmUp{0.2};       // step_bench's default

}  // namespace

Seconds time_of(const results::LaunchRecord& record) {
  const std::vector<double>& samples = record.step_seconds;
  return kStartAndEnd + Seconds{record.first_step_seconds + record.warmup_seconds +
                                std::accumulate(samples.begin(), samples.end(), 0.0)};
}

Seconds expected_time(const std::string& min_time) {
  return kStartAndEnd + kWarmUp + Seconds{parse_duration(min_time, "min_time")};
}

void LaunchTimes::add(std::size_t cell, Seconds time) {
  for (Mean* mean : {&all_, &by_cell_[cell]}) {
    mean->sum += time;
    ++mean->count;
  }
}

Seconds LaunchTimes::of(std::size_t cell) const {
  if (by_cell_[cell].count > 0) return by_cell_[cell].value();
  return all_.count > 0 ? all_.value() : expected_;
}

Seconds LaunchTimes::total(const std::vector<int>& launches) const {
  Seconds sum{0};
  for (std::size_t cell = 0; cell < launches.size(); ++cell) sum += launches[cell] * of(cell);
  return sum;
}

}  // namespace tandem::cli
