// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/document_change.h"

namespace tandem::reports {

// "1.100x [1.080 .. 1.120]": to a thousandth, for ends are held against a threshold of some
// percent.
[[nodiscard]] std::string change_ratio_text(const stats::Estimate& ratio);

// How to read the ratios, a sentence or two.
[[nodiscard]] std::string change_method(const DocumentChange& changes,
                                        const DocumentNames& names = {});

// "2 cells: 1 SLOWER, 0 FASTER, 1 SAME, 0 UNSURE."
[[nodiscard]] std::string change_counts(const DocumentChange& changes);

// For the terminal: a table of all cells, how to read it, what differs besides, and the counts.
[[nodiscard]] std::string to_text(const DocumentChange& changes);

// The same as JSON, with a line end: threshold, confidences, counts, notes, and an object per cell.
// Ends of intervals that there are not are null.
[[nodiscard]] std::string to_json(const DocumentChange& changes);

}  // namespace tandem::reports
