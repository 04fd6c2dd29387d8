// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tuple>
#include <vector>

#include "common/results/document.h"
#include "common/stats/change.h"
#include "reports/summary.h"

namespace tandem::reports {

// One cell that both documents measured.
struct CellChange {
  const CellSummary* before = nullptr;
  const CellSummary* after = nullptr;
  stats::Estimate time_ratio;  // of launch medians, after / before: above 1 is slower
  stats::Change change = stats::Change::kUnsure;
  // By ranks, which single wild launches do not move; these stand for themselves alone, at 95 %.
  stats::Estimate rank_ratio;
  double rank_p = 1;
  std::vector<std::string> remarks;
};

// What two documents are judged by, as shares: 0.03 is 3 %.
struct ChangeRule {
  double threshold = 0.03;  // below it a change does not matter
  double between_runs = 0;  // standard deviation between runs as a whole (stats::ratio_by_t)
};

// What notes and remarks call the two documents.
struct DocumentNames {
  std::string before = "A";
  std::string after = "B";
};

// What two cells have to share to be the same one: name, back end, mode, what is modelled and what
// is planted. Precision and links are among the options that the name holds, but for documents that
// say so of launches alone.
using CellIdentity = std::tuple<std::string, std::string, std::string, std::string, std::string>;
[[nodiscard]] CellIdentity identity_of(const CellSummary& cell);

// Two documents, cell by cell. Points into their summaries.
struct DocumentChange {
  ChangeRule rule;
  double confidence = 0;  // of each interval, so that all hold together at 95 %; 0: there is none
  std::vector<CellChange> cells;   // in the order of the summaries
  std::vector<std::string> notes;  // what differs besides, and what was not compared

  [[nodiscard]] int count(stats::Change change) const;
};

// Cells are the same where strategy, launch, model, back end, devices, batch, options and mode are,
// and what is modelled or planted: a modelled link never meets a measured one, nor one that was
// scaled to another core speed. The documents are needed for the machines' facts; both summaries
// are theirs and have to outlive the result.
[[nodiscard]] DocumentChange compare_documents(const results::Document& before,
                                               const Summary& before_summary,
                                               const results::Document& after,
                                               const Summary& after_summary, const ChangeRule& rule,
                                               const DocumentNames& names = {});

}  // namespace tandem::reports
