// SPDX-License-Identifier: Apache-2.0
#include "common/results/context.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <ctime>

#include "common/base/system_files.h"
#include "common/base/this_process.h"
#include "common/results/machine_facts.h"

namespace tandem::results {
namespace {

std::string now_iso8601() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  const long minutes = local.tm_gmtoff / 60;
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}{}{:02}:{:02}", local, minutes < 0 ? '-' : '+',
                     std::abs(minutes) / 60, std::abs(minutes) % 60);
}

// The bytes of a size such as "512K".
long long cache_bytes(const std::string& text) {
  char* rest = nullptr;
  const long long number = std::strtoll(text.c_str(), &rest, 10);
  if (*rest == 'K') return number << 10;
  if (*rest == 'M') return number << 20;
  return number;
}

// The number of CPUs in a hexadecimal mask such as "00000000,00000003".
int cpus_in_mask(const std::string& mask) {
  int count = 0;
  for (const char digit : mask) {
    const char text[] = {digit, '\0'};
    for (long bits = std::strtol(text, nullptr, 16); bits != 0; bits &= bits - 1) ++count;
  }
  return count;
}

std::vector<Context::Cache> caches_of_cpu0() {
  std::vector<Context::Cache> caches;
  for (int index = 0;; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/", index);
    const std::string type = first_line(folder + "type");
    if (type.empty()) return caches;
    caches.push_back({.type = type,
                      .level = std::atoi(first_line(folder + "level").c_str()),
                      .size = cache_bytes(first_line(folder + "size")),
                      .num_sharing = cpus_in_mask(first_line(folder + "shared_cpu_map"))});
  }
}

// Whether any CPU's frequency is governed by another governor than "performance", as Google
// Benchmark defines scaling.
bool scaling_enabled(int cpus) {
  for (int cpu = 0; cpu < cpus; ++cpu) {
    const std::string governor =
        first_line(fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", cpu));
    if (!governor.empty() && governor != "performance") return true;
  }
  return false;
}

std::vector<double> load_averages() {
  std::array<double, 3> loads{};
  const int count = std::max(0, ::getloadavg(loads.data(), 3));
  return {loads.begin(), loads.begin() + count};
}

}  // namespace

Context gather_context(const std::string& executable) {
  Context context;
  context.date = now_iso8601();
  context.host_name = host_name();
  context.executable = executable;
  context.num_cpus = static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN));
  context.mhz_per_cpu =
      static_cast<int>(std::lround(std::atof(text_behind("/proc/cpuinfo", "cpu MHz").c_str())));
  context.cpu_scaling_enabled = scaling_enabled(context.num_cpus);
  context.caches = caches_of_cpu0();
  context.load_avg = load_averages();
#ifdef NDEBUG
  context.library_build_type = "release";
#else
  context.library_build_type = "debug";
#endif
  return context;
}

}  // namespace tandem::results
