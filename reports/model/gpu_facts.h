// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/results/document.h"

namespace tandem::reports {

// The facts, by name, about the GPUs of the measured launch with the most GPUs: the GPUs' places,
// the connections between them, and the CPUs on which their threads ran. Empty on the host.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> gpu_facts(
    const results::Document& document);

// The text "0-3,8" for 0, 1, 2, 3, 8.
[[nodiscard]] std::string ranges_text(const std::vector<int>& ascending);

}  // namespace tandem::reports
