// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "common/runtime/nvml/nvml_api.h"

namespace tandem::nvml {

// What lies between two GPUs. Absent and empty: the driver does not tell.
struct PairFacts {
  std::optional<bool> peer_access;  // each may read and write the other's memory
  // Active NVLinks between them: direct ones, and through switches as many as the one that has
  // fewer has to switches (all of a machine's switches are taken to be one fabric).
  std::optional<int> nvlinks;
  // Where their PCIe paths meet: "same board", "PCIe switch", "PCIe switches", "host bridge",
  // "NUMA node" or "system" (between NUMA nodes).
  std::string path;

  bool operator==(const PairFacts&) const = default;
};

[[nodiscard]] PairFacts pair_facts(const Api& api, DeviceRef one, DeviceRef other);

}  // namespace tandem::nvml
