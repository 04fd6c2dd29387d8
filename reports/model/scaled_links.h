// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/results/document.h"

namespace tandem::reports {

// A line per preset link of a document, with K and the modelled link, and a warning where its
// launches were not all scaled to one core speed. Empty where no measured launch had a preset.
[[nodiscard]] std::vector<std::string> scaled_link_notes(const results::Document& document);

}  // namespace tandem::reports
