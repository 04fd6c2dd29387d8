// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "reports/render/formats.h"

namespace tandem::cli {

// The screen of stdout, as wide as columns_of() says.
[[nodiscard]] reports::Screen screen(bool has_details);

}  // namespace tandem::cli
