// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/results/document.h"

namespace tandem::reports {

// What the driver told of the GPUs that makes a reader doubt a figure: clocks held down, other
// work on them, a GPU divided into instances. A line for each kind; none on the host.
[[nodiscard]] std::vector<std::string> gpu_notes(const results::Document& document);

}  // namespace tandem::reports
