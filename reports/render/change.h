// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/model/document_change.h"

namespace tandem::reports {

// The text for the terminal: a table of all cells, how to read the table, the other differences,
// and the counts.
[[nodiscard]] std::string to_text(const DocumentChange& changes);

// The changes as JSON, with a line end: threshold, confidences, counts, notes, and an object per
// cell. Both ends of a missing interval are null.
[[nodiscard]] std::string to_json(const DocumentChange& changes);

}  // namespace tandem::reports
