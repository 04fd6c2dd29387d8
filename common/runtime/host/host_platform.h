// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/runtime/platform.h"

namespace tandem::host {

// Logical devices on the cores of this machine, device i on the i-th of them. More devices than
// cores is a usage error unless options.oversubscribe; then they share cores in turn.
[[nodiscard]] std::unique_ptr<Platform> make_host_platform(const PlatformOptions& options);

}  // namespace tandem::host
