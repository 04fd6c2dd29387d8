// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/tandem/report/compare_command.h"

namespace tandem::cli {

struct ReportOptions {
  std::vector<std::string> sources;    // folders of `tandem run`, journals or results documents
  std::vector<std::string> figures{};  // files of other programs' --benchmark_out
  std::string out;                     // empty: the source's folder; several sources: a new one
  RuleOptions rule{};                  // for documents side by side, as in `tandem compare`
};

// `tandem report`: writes the files that `tandem run` writes at its end. Several sources stand side
// by side on one page and in one report.md, each judged against the first. Figures of other
// programs are listed.
[[nodiscard]] int write_report(const ReportOptions& options);

struct MergeOptions {
  std::vector<std::string> sources;
  std::vector<std::string> figures{};
  std::string out;  // empty: a new folder out/merge-N
};

// `tandem merge`: the report of several sources as parts of one run, where launches of one cell
// count together.
[[nodiscard]] int merge_runs(const MergeOptions& options);

}  // namespace tandem::cli
