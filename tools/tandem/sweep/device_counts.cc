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

std::vector<int> named_devices(const std::string& name, const SweepReader& reader, int all) {
  constexpr std::array<std::string_view, 3> kNames{"all", "1..all", "doubling"};
  if (std::find(kNames.begin(), kNames.end(), name) == kNames.end()) {
    reader.complain(fmt::format("key 'devices' holds {}; it takes numbers from 1, or {}",
                                shown(SweepJson(name)), fmt::join(kNames, ", ")));
  }
  if (all == 0) {
    reader.complain(fmt::format(
        "key 'devices' holds {}, but how many there are is not known here; say --devices=N", name));
  }
  if (name == "doubling") return doubling(all);
  std::vector<int> counts;
  for (int count = name == "all" ? all : 1; count <= all; ++count) counts.push_back(count);
  return counts;
}

int number(const SweepJson& element, const SweepReader& file) {
  constexpr int kMost = 100'000;
  const SweepJson one{{"devices", element}};
  return SweepReader(one, file.where()).count("devices", 0, kMost);
}

}  // namespace

std::vector<int> read_devices(const SweepReader& file, int all) {
  const SweepJson& value = file.at("devices");
  constexpr std::size_t kMostCounts = 100'000;
  std::vector<int> devices;
  bool is_named = false;
  for (const SweepJson& element : value.is_array() ? value : SweepJson::array({value})) {
    if (devices.size() > kMostCounts) file.complain("key 'devices' is too long; use fewer");
    if (!element.is_string()) {
      devices.push_back(number(element, file));
      continue;
    }
    is_named = true;
    const std::vector<int> named = named_devices(element.get<std::string>(), file, all);
    devices.insert(devices.end(), named.begin(), named.end());
  }
  if (devices.empty()) file.complain("key 'devices' is empty");
  if (!is_named) return devices;
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

}  // namespace tandem::cli
