// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/results/document.h"
#include "reports/document_change.h"
#include "reports/report.h"
#include "reports/table.h"

namespace tandem::reports {

// A results document and what the reader calls it, such as its file's name.
struct NamedDocument {
  std::string name;
  results::Document document;
};

// Several machines or runs, each a report of its own, and what changes from the first to each of
// the others. In tables and charts the first is A, the next one B, and so on.
struct SideBySide {
  std::vector<std::string> names;
  std::vector<Report> reports;          // one per name
  std::vector<DocumentChange> changes;  // of B against A, C against A, ...; points into `reports`

  [[nodiscard]] std::size_t size() const { return reports.size(); }
};

// "A", "B", ..., "Z", "27", ...
[[nodiscard]] std::string letter(std::size_t place);

// Judged as `tandem compare` judges two; needs one document or more.
[[nodiscard]] SideBySide side_by_side(std::vector<NamedDocument> documents, const ChangeRule& rule);

// A row per document: its letter and name, date, sweep, hardware, and what it says by itself.
[[nodiscard]] Table documents_table(const SideBySide& side);

// A row per cell that A and another one measured: each one's median step with its interval, and for
// all but A the ratio of its time over A's, with the interval, and the verdict.
[[nodiscard]] Table side_table(const SideBySide& side);

// Cells that some documents measured and others did not, with the reason where it is told.
[[nodiscard]] Table partial_table(const SideBySide& side);

// Facts of the machines, those that differ first and marked.
[[nodiscard]] Table facts_table(const SideBySide& side);

// "B against A: 7 cells: 1 SLOWER, ...", a sentence per document but the first.
[[nodiscard]] std::vector<std::string> side_lines(const SideBySide& side);

// How to read the ratios, and what differs besides the figures: a line each, as `tandem compare`
// has them, with the letters in front.
[[nodiscard]] std::vector<std::string> side_notes(const SideBySide& side);

}  // namespace tandem::reports
