// SPDX-License-Identifier: Apache-2.0
#include "common/runtime/host/core_shares.h"

#include <algorithm>
#include <cstddef>
#include <map>

#include "common/base/error.h"

namespace tandem::host {
namespace {

using Indices = std::vector<std::size_t>;

bool is_near(const Core& core, const std::vector<int>& near) {
  return std::any_of(core.begin(), core.end(), [&near](int thread) {
    return std::find(near.begin(), near.end(), thread) != near.end();
  });
}

// Per device and core, whether the core serves the device.
std::vector<std::vector<bool>> services(const std::vector<Core>& cores,
                                        const std::vector<std::vector<int>>& near) {
  std::vector<std::vector<bool>> serves;
  for (const std::vector<int>& of_device : near) {
    std::vector<bool> by_core;
    for (const Core& core : cores) by_core.push_back(is_near(core, of_device));
    const bool none = std::find(by_core.begin(), by_core.end(), true) == by_core.end();
    serves.push_back(none ? std::vector<bool>(cores.size(), true) : by_core);
  }
  return serves;
}

// The cores grouped by the set of devices that the cores serve.
std::map<Indices, Indices> grouped(const std::vector<std::vector<bool>>& serves,
                                   std::size_t cores) {
  std::map<Indices, Indices> groups;
  for (std::size_t core = 0; core < cores; ++core) {
    Indices devices;
    for (std::size_t device = 0; device < serves.size(); ++device) {
      if (serves[device][core]) devices.push_back(device);
    }
    groups[devices].push_back(core);
  }
  return groups;
}

}  // namespace

std::vector<std::vector<int>> share_cores(const std::vector<Core>& cores,
                                          const std::vector<std::vector<int>>& near) {
  TANDEM_CHECK(!cores.empty(), "no cores for {} devices", near.size());
  std::vector<std::vector<int>> shares(near.size());
  for (const auto& [devices, own] : grouped(services(cores, near), cores.size())) {
    for (std::size_t i = 0; i < devices.size(); ++i) {
      const std::size_t first = i * own.size() / devices.size();
      // Where there are fewer cores than devices, each device gets one core, shared with others.
      const std::size_t last = std::max(first + 1, (i + 1) * own.size() / devices.size());
      std::vector<int>& share = shares[devices[i]];
      for (std::size_t core = first; core < last; ++core) {
        share.insert(share.end(), cores[own[core]].begin(), cores[own[core]].end());
      }
    }
  }
  for (std::vector<int>& share : shares) std::sort(share.begin(), share.end());
  return shares;
}

}  // namespace tandem::host
