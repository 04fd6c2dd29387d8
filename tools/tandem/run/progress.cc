// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>

#include "reports/model/subject.h"
#include "tools/tandem/run/measuring.h"

namespace tandem::cli {

namespace {

constexpr int kWarmUpSteps = 5;  // step_bench's default

// The assumed speeds before any measurement: rounded down from the speeds of models with 1 to 100
// million parameters on a core with AVX2 and on a data-centre GPU. The first launch corrects the
// estimate.
constexpr double kFlopsOfCore = 50e9;
// The speed of seeding weights and of the first touch of weights, gradients and state.
constexpr double kParametersPerSecond = 100e6;

double flops_of_gpu(const results::Cell& cell) {
  const std::string precision = reports::precision_of(cell);
  if (precision == "fp32") return 10e12;
  return precision == "tf32" ? 40e12 : 100e12;
}

// The time to start and end processes under mpirun on an idle machine; GPUs' contexts, libraries
// and communicators take seconds more, and so does torch, for the import.
Seconds start_and_end(const results::Cell& cell, bool is_host) {
  return Seconds{(cell.options.contains("implementation") ? 4.0 : 1.0) + (is_host ? 0 : 4)};
}

// The time of the steps before the first sample at least: GPUs' clocks take longer to settle.
Seconds warm_up(bool is_host) { return Seconds{is_host ? 0.2 : 2.0}; }

}  // namespace

Seconds time_of(const results::LaunchRecord& record) {
  const std::vector<double>& samples = record.step_seconds;
  return start_and_end(record.cell, record.cell.backend == "host") +
         Seconds{record.first_step_seconds + record.warmup_seconds +
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

Seconds expected_time(const results::Cell& cell, const ModelWork& size,
                      const LaunchSettings& settings, bool is_host) {
  const double flops = size.flops_per_sample * static_cast<double>(cell.global_batch);
  const Seconds step{flops / cell.devices / (is_host ? kFlopsOfCore : flops_of_gpu(cell))};
  return start_and_end(cell, is_host) + Seconds{size.parameters / kParametersPerSecond} +
         std::max(warm_up(is_host), kWarmUpSteps * step) +
         std::max(Seconds{parse_duration(settings.min_time, "min_time")},
                  settings.min_samples * step);
}

std::vector<Seconds> expected_times(const std::vector<results::Cell>& cells,
                                    const Launcher& launcher, const Interrupts& interrupts) {
  const bool is_host = !cells.empty() && is_on_host(cells.front().backend);
  std::map<std::string, ModelWork> sizes;
  std::vector<Seconds> times;
  for (const results::Cell& cell : cells) {
    const auto [size, is_new] = sizes.try_emplace(cell.model);
    if (is_new && !interrupts.requested()) size->second = launcher.work_of(cell);
    times.push_back(expected_time(cell, size->second, launcher.settings(), is_host));
  }
  return times;
}

std::string short_time(Seconds time) {
  const long seconds = std::lround(time.count());
  if (seconds < 60) return fmt::format("{}s", seconds);
  if (seconds < 3600) return fmt::format("{}m{:02}s", seconds / 60, seconds % 60);
  return fmt::format("{}h{:02}m", seconds / 3600, seconds % 3600 / 60);
}

Progress::Progress() : terminal_(::isatty(STDERR_FILENO) == 1) {}

void Progress::starting(const std::string& cell, int done, int total, Seconds left,
                        const std::string& figure) {
  fmt::print(stderr, "{}[{}/{}, about {} left] {}{}{}", terminal_ ? "\r\x1b[K" : "", done + 1,
             total, short_time(left), cell, figure.empty() ? "" : ": " + figure + " so far",
             terminal_ ? "" : "\n");
  std::fflush(stderr);
  line_open_ = terminal_;
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

}  // namespace tandem::cli
