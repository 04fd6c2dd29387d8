// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "common/results/document.h"
#include "common/stats/comparison.h"
#include "reports/model/summary.h"

namespace tandem::reports {

// One cell that both documents measured.
struct CellChange {
  const CellSummary* before = nullptr;
  const CellSummary* after = nullptr;
  stats::Estimate time_ratio;  // ratio of launch medians, after / before: above 1 is slower
  stats::Change change = stats::Change::kUnsure;
  std::vector<std::string> remarks;
};

// A cell that the second document lacks or skipped though the first measured it, or that has a
// failed launch in the second.
struct LostCell {
  const CellSummary* cell = nullptr;  // the second document's where it has one, else the first's
  bool is_missing = false;            // the second document says nothing of the cell
};

// The rule by which two documents are judged. Shares: 0.03 is 3 %.
struct ChangeRule {
  double threshold = 0.03;  // smaller changes do not matter
  double between_runs = 0;  // standard deviation between runs as a whole (stats::ratio_by_t)
};

// The kinds of change in the order in which they are counted.
inline constexpr std::array kChanges{stats::Change::kSlower, stats::Change::kFaster,
                                     stats::Change::kSame, stats::Change::kNotSlower,
                                     stats::Change::kUnsure};

// The changes between two documents, cell by cell. The changes point into the summaries.
struct DocumentChange {
  ChangeRule rule;
  double confidence = 0;  // of each interval, so that all hold together at 95 %; 0: no interval
  std::vector<CellChange> cells;  // cells in the order of the summaries
  std::vector<LostCell> lost{};
  std::vector<std::string> notes;  // other differences, and cells that were not compared

  [[nodiscard]] int count(stats::Change change) const;
  [[nodiscard]] int count_missing() const;
  [[nodiscard]] int count_failed() const;  // failed or skipped in the second document
};

// Two cells are the same where strategy, launch, model, back end, devices, batch, options, mode and
// modelled parts are the same: a modelled step is never compared with a measured one. A planted
// delay that one document alone has is no difference, so that a gate can be tried. The documents
// give the machines' facts; both summaries belong to the documents and must outlive the result.
[[nodiscard]] DocumentChange compare_documents(const results::Document& before,
                                               const Summary& before_summary,
                                               const results::Document& after,
                                               const Summary& after_summary,
                                               const ChangeRule& rule);

// The text "1.100x [1.080 .. 1.120]", to a thousandth, since the ends are compared with a threshold
// of some percent.
[[nodiscard]] std::string change_ratio_text(const stats::Estimate& ratio);

// A sentence or two on how to read the ratios.
[[nodiscard]] std::string change_method(const DocumentChange& changes);

// The text "2 cells: 1 SLOWER, 0 FASTER, 1 SAME, 0 NOT SLOWER, 0 UNSURE."
[[nodiscard]] std::string change_counts(const DocumentChange& changes);

}  // namespace tandem::reports
