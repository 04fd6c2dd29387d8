// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/model/document_change.h"

namespace tandem::reports {

// The text "1.100x [1.080 .. 1.120]", to a thousandth, since the ends are compared with a threshold
// of some percent.
[[nodiscard]] std::string change_ratio_text(const stats::Estimate& ratio);

// A sentence or two on how to read the ratios.
[[nodiscard]] std::string change_method(const DocumentChange& changes,
                                        const DocumentNames& names = {});

// The text "2 cells: 1 SLOWER, 0 FASTER, 1 SAME, 0 UNSURE."
[[nodiscard]] std::string change_counts(const DocumentChange& changes);

// The text for the terminal: a table of all cells, how to read the table, the other differences,
// and the counts.
[[nodiscard]] std::string to_text(const DocumentChange& changes);

// The changes as JSON, with a line end: threshold, confidences, counts, notes, and an object per
// cell. Both ends of a missing interval are null.
[[nodiscard]] std::string to_json(const DocumentChange& changes);

}  // namespace tandem::reports
