// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/results/document.h"

namespace tandem::reports {

// What is known of the GPUs of the measured launch that had most of them: where they are, what lies
// between them, and on which CPUs their threads ran. By name; empty on the host.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> gpu_facts(
    const results::Document& document);

// "0-3,8" of 0, 1, 2, 3, 8.
[[nodiscard]] std::string ranges_text(const std::vector<int>& ascending);

}  // namespace tandem::reports
