// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numeric>
#include <optional>
#include <ranges>
#include <string_view>

#include "common/base/lines.h"
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

constexpr std::chrono::seconds kBetweenLines{10};

// When a line was printed last: a run has several runners, and one stderr.
std::optional<TimePoint> last_line;

// The time to start and end processes under mpirun on an idle machine; GPUs' contexts, libraries
// and communicators take seconds more, and so does torch, for the import.
Seconds start_and_end(const results::Cell& cell, bool is_host) {
  return Seconds{(cell.options.contains("implementation") ? 4.0 : 1.0) + (is_host ? 0 : 4)};
}

// The time of the steps before the first sample at least: GPUs' clocks take longer to settle.
Seconds warm_up(bool is_host) { return Seconds{is_host ? 0.2 : 2.0}; }

// Whether a carriage return on stderr goes back to the beginning of a line.
bool rewrites_lines() {
  const char* const terminal = std::getenv("TERM");
  const bool is_dumb = terminal != nullptr && std::string_view(terminal) == "dumb";
  return ::isatty(STDERR_FILENO) == 1 && !is_dumb;
}

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

Progress::Progress() : rewrites_(rewrites_lines()) {}

std::string progress_line(const Announcement& launch, std::size_t columns) {
  results::Cell cell = launch.cell;
  cell.model = reports::spoken_model(cell);
  const std::string begin = fmt::format("[{}/{}, {} left] {}, ", launch.done + 1, launch.total,
                                        short_time(launch.left), reports::strategy_label(cell));
  const std::string whole = begin + reports::point_text(cell);
  const std::string brief = begin + fmt::format("{} {}", cell.model, cell.global_batch);
  std::vector<std::string> lines{whole, brief};
  for (const std::string& open : launch.open | std::views::reverse) {
    lines.insert(lines.begin(), {whole + "; " + open, brief + "; " + open});
  }
  if (!launch.known.empty()) lines.insert(lines.begin(), lines.front() + "; " + launch.known);
  const auto fits = [&](const std::string& line) { return line.size() <= columns; };
  const auto found = std::ranges::find_if(lines, fits);
  return found == lines.end() ? brief.substr(0, brief.rfind(' ', columns)) : *found;
}

void Progress::starting(const Announcement& launch) {
  const TimePoint now = Clock::now();
  if (!rewrites_ && last_line && now - *last_line < kBetweenLines) return;
  last_line = now;
  const std::string line = progress_line(launch, columns_of(STDERR_FILENO) - (rewrites_ ? 1 : 0));
  if (!rewrites_) {
    fmt::print(stderr, "{}\n", line);
    return;
  }
  fmt::print(stderr, "\r{:<{}}", line, open_width_);
  std::fflush(stderr);
  open_width_ = line.size();
}

void Progress::say(const std::string& line) {
  end();
  fmt::print(stderr, "{}\n", line);
}

void Progress::end() {
  if (open_width_ > 0) fmt::print(stderr, "\r{:<{}}\r", "", open_width_);
  open_width_ = 0;
  std::fflush(stderr);
}

}  // namespace tandem::cli
