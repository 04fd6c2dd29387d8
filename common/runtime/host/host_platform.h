// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "common/runtime/platform.h"

namespace tandem::host {

// Makes logical devices on the cores of this machine, device i on the i-th core. More devices than
// cores is a usage error unless options.oversubscribe; then devices share cores in turn.
[[nodiscard]] std::unique_ptr<Platform> make_host_platform(const PlatformOptions& options);

}  // namespace tandem::host
