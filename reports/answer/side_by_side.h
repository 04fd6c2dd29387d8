// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "common/results/document.h"
#include "reports/answer/report.h"
#include "reports/model/document_change.h"
#include "reports/text/table.h"

namespace tandem::reports {

// A results document and the reader's name for it, such as its file's name.
struct NamedDocument {
  std::string name;
  results::Document document;
};

// Several machines or runs, a report each, and the changes from the first document to each of the
// others. In tables and charts the first document is A, the next one B, and so on.
struct SideBySide {
  std::vector<std::string> names;
  std::vector<Report> reports;          // one per name
  std::vector<DocumentChange> changes;  // B against A, C against A, ...; points into `reports`

  [[nodiscard]] std::size_t size() const { return reports.size(); }
};

// The letter of a document: "A", "B", ..., "Z", "27", ...
[[nodiscard]] std::string letter(std::size_t place);

// The documents, judged as `tandem compare` judges two; needs one document or more.
[[nodiscard]] SideBySide side_by_side(std::vector<NamedDocument> documents, const ChangeRule& rule);

// A row per document: its letter and name, date, sweep, hardware, and its own verdict.
[[nodiscard]] TextTable documents_table(const SideBySide& side);

// A row per cell that A and another document measured: each document's median step with its
// interval, and for all documents but A the ratio of the time over A's, with the interval, and the
// verdict.
[[nodiscard]] TextTable side_table(const SideBySide& side);

// The facts of the machines; facts that differ come first and are marked.
[[nodiscard]] TextTable facts_table(const SideBySide& side);

// A sentence per document but the first: "B against A: 7 cells: 1 SLOWER, ...".
[[nodiscard]] std::vector<std::string> side_lines(const SideBySide& side);

// Lines on how to read the ratios, and on the other differences, as `tandem compare` has them, with
// the letters in front.
[[nodiscard]] std::vector<std::string> side_notes(const SideBySide& side);

}  // namespace tandem::reports
