// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/results/document.h"

namespace tandem::cli {

// Throws a usage error where two of the sources hold a launch that both measured: one that counts
// twice makes intervals narrower than they are. `documents` are theirs, in their order.
void check_distinct(const std::vector<std::string>& sources,
                    const std::vector<results::Document>& documents);

// Whether each launch that `part` measured is in `whole` as well.
[[nodiscard]] bool holds_all(const results::Document& whole, const results::Document& part);

}  // namespace tandem::cli
