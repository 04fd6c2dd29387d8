// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/hardware/description.h"

namespace tandem {

// The text of a file that describes the machine, as parse_hardware() reads it.
[[nodiscard]] std::string hardware_text(const HardwareDescription& hardware);

}  // namespace tandem
