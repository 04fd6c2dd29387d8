// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/sweep/device_counts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>

namespace tandem::cli {
namespace {

// The counts 1, 2, 4, ... and `all`.
std::vector<int> doubling(int all) {
  std::vector<int> counts;
  for (int count = 1; count < all; count *= 2) counts.push_back(count);
  counts.push_back(all);
  return counts;
}

std::vector<int> named_devices(const JsonValue& value, int all) {
  constexpr std::array<std::string_view, 3> kNames{"all", "1..all", "doubling"};
  const std::string_view name = value.text();
  if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) {
    value.complain(
        fmt::format("{}: use numbers from 1, or {}", shown(value), fmt::join(kNames, ", ")));
  }
  if (all == 0) {
    value.complain(
        fmt::format("{}: how many there are is not known here; say --devices=N", shown(value)));
  }
  if (name == "doubling") return doubling(all);
  std::vector<int> counts;
  for (int count = name == "all" ? all : 1; count <= all; ++count) counts.push_back(count);
  return counts;
}

}  // namespace

std::vector<int> read_devices(const SweepReader& file, int all) {
  constexpr std::size_t kMostCounts = 100'000;
  constexpr int kMost = 100'000;
  std::vector<int> devices;
  bool is_named = false;
  for (const JsonValue& value : file.values("devices")) {
    if (devices.size() > kMostCounts) file.complain("key 'devices' is too long; use fewer");
    if (!value.is_text()) {
      devices.push_back(static_cast<int>(value.whole(1, kMost)));
      continue;
    }
    is_named = true;
    const std::vector<int> named = named_devices(value, all);
    devices.insert(devices.end(), named.begin(), named.end());
  }
  if (!is_named) return devices;
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

}  // namespace tandem::cli
