// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/runtime/platform.h"
#include "dp/options.h"

namespace tandem::dp {

// The devices that device_ids name, the root first. Throws usage errors for an id that the platform
// lacks, or that is named twice.
[[nodiscard]] std::vector<Device*> devices_named(Platform& platform,
                                                 const DataParallelOptions& options);

// The device that an option names by index; throws a usage error where there is none.
[[nodiscard]] Device& device_named(Platform& platform, int index, const char* option);

// The properties that decide whether devices go well together.
struct DeviceStrength {
  int index = 0;
  Bytes memory;
  int multiprocessors = 0;
};

// torch's warning at construction, where the weakest device has less than 75 % of the strongest
// device's memory, or else of its multiprocessors. Nothing is rebalanced.
[[nodiscard]] std::optional<std::string> imbalance_warning(
    const std::vector<DeviceStrength>& devices);

[[nodiscard]] std::vector<DeviceStrength> strengths_of(const std::vector<Device*>& devices);

}  // namespace tandem::dp
