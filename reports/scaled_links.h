// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/results/document.h"

namespace tandem::reports {

// What the preset links of a document came to: a line per link with K and the link that was
// modelled, and a warning where its launches were not all scaled to one core speed. Empty where no
// launch that measured had a preset.
[[nodiscard]] std::vector<std::string> scaled_link_notes(const results::Document& document);

}  // namespace tandem::reports
