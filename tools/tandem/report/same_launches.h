// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/results/document.h"

namespace tandem::cli {

// Throws a usage error where two sources hold the same measured launch: a launch that counts twice
// makes intervals too narrow. `documents` are the documents of `sources`, in the same order.
void check_distinct(const std::vector<std::string>& sources,
                    const std::vector<results::Document>& documents);

// Whether `whole` holds every measured launch of `part`.
[[nodiscard]] bool holds_all(const results::Document& whole, const results::Document& part);

}  // namespace tandem::cli
