// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "common/runtime/platform.h"

namespace tandem {

// A usage error unless the sizes asked for are none, one for all devices, or one per device.
void check_device_memory(const PlatformOptions& options);

// The capacity asked for device `index`; absent where the device shares the memory that is left.
[[nodiscard]] std::optional<Bytes> asked_memory(const PlatformOptions& options, int index);

}  // namespace tandem
