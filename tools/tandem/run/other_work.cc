// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/run/other_work.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <thread>

#include "common/base/system_files.h"

namespace tandem::cli {

bool OtherWork::is_little() const {
  constexpr double kFewCpus = 0.25;
  return busy_cpus < kFewCpus && unwritten < mib(64);
}

std::string OtherWork::text() const {
  return fmt::format("{:.1f} CPUs are busy, {} wait to be written", busy_cpus,
                     to_string(unwritten));
}

OtherWork watch_other_work(const std::filesystem::path& root, Nanoseconds time) {
  const auto before = processor_times(root / "proc/stat")["cpu"];
  std::this_thread::sleep_for(time);
  const auto after = processor_times(root / "proc/stat")["cpu"];
  OtherWork found;
  if (after.total > before.total) {
    const auto cpus = static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
    found.busy_cpus = cpus * (after.busy - before.busy) / (after.total - before.total);
  }
  for (const char* key : {"Dirty", "Writeback"}) {
    const double kib_there = number_of(root / "proc/meminfo", key).value_or(0);
    found.unwritten += kib(static_cast<std::int64_t>(kib_there));
  }
  return found;
}

void wait_for_other_work(Nanoseconds most, const std::function<OtherWork()>& watch,
                         const std::function<bool()>& is_over,
                         const std::function<void(const std::string&)>& say) {
  const TimePoint end = Clock::now() + most;
  OtherWork found = watch();
  if (found.is_little()) return;
  say(fmt::format("waiting up to {:.0f} s for other work to end: {}", Seconds(most).count(),
                  found.text()));
  while (!found.is_little()) {
    if (is_over()) return;
    if (Clock::now() >= end) {
      say(fmt::format("measuring beside other work: {}", found.text()));
      return;
    }
    found = watch();
  }
}

}  // namespace tandem::cli
