// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/available_memory.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <optional>
#include <string>

namespace tandem::host {
namespace {

constexpr Bytes kUnlimited{std::numeric_limits<std::int64_t>::max()};

Bytes machine_available() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  std::int64_t kibibytes = 0;
  for (std::string rest; file >> key >> kibibytes; std::getline(file, rest)) {
    if (key == "MemAvailable:") return kib(kibibytes);
  }
  return kUnlimited;
}

// The number that a file holds; empty where the file holds "max" or is not there.
std::optional<std::int64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::int64_t value = 0;
  if (file >> value) return value;
  return std::nullopt;
}

std::string own_cgroup() {
  std::ifstream file("/proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("0::")) return "/sys/fs/cgroup" + line.substr(3);
  }
  return "/sys/fs/cgroup";
}

Bytes cgroup_available() {
  const std::string folder = own_cgroup();
  const auto limit = number_in(folder + "/memory.max");
  const auto used = number_in(folder + "/memory.current");
  if (!limit || !used) return kUnlimited;
  return Bytes{std::max<std::int64_t>(0, *limit - *used)};
}

}  // namespace

Bytes available_memory() { return std::min(machine_available(), cgroup_available()); }

}  // namespace tandem::host
