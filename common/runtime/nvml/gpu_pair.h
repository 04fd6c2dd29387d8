// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "common/runtime/nvml/nvml_api.h"

namespace tandem::nvml {

// The connection of two GPUs. Absent and empty fields: the driver does not tell.
struct PairFacts {
  std::optional<bool> peer_access;  // each GPU may read and write the other's memory
  // Active NVLinks between the GPUs: direct links, and through switches as many as the GPU with
  // fewer has to switches (all of a machine's switches are taken to be one fabric).
  std::optional<int> nvlinks;
  // Where the GPUs' PCIe paths meet: "same board", "PCIe switch", "PCIe switches", "host bridge",
  // "NUMA node" or "system" (between NUMA nodes).
  std::string path;

  bool operator==(const PairFacts&) const = default;
};

[[nodiscard]] PairFacts pair_facts(const Api& api, DeviceRef one, DeviceRef other);

}  // namespace tandem::nvml
