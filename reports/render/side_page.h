// SPDX-License-Identifier: Apache-2.0
//
// Private to the page: the text about several documents.
#pragma once

#include <string>

#include "reports/answer/side_by_side.h"
#include "reports/render/page_data.h"

namespace tandem::reports {

// A sentence per document about its changes, and the reasons to doubt these changes.
[[nodiscard]] std::string side_header(const SideBySide& side);

// All sections: tables, charts with the curves of all documents, trust.
[[nodiscard]] std::string side_sections(const SideBySide& side, const PageData& data);

}  // namespace tandem::reports
