// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/document_change.h"

namespace tandem::reports {

// For the terminal: a table of all cells, how to read it, what differs besides, and the counts.
[[nodiscard]] std::string to_text(const DocumentChange& changes);

// The same as JSON, with a line end: threshold, confidences, counts, notes, and an object per cell.
// Ends of intervals that there are not are null.
[[nodiscard]] std::string to_json(const DocumentChange& changes);

}  // namespace tandem::reports
