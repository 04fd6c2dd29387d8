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
  bool merge = false;                  // several sources are parts of one run
  RuleOptions rule;                    // for documents side by side, as in `tandem compare`
};

// `tandem report`: writes the files that `tandem run` writes at its end. Several sources stand side
// by side on one page and in one report.md, each judged against the first; with `merge` the sources
// become one document, where launches of one cell count together. Figures of other programs are
// listed.
[[nodiscard]] int write_report(const ReportOptions& options);

}  // namespace tandem::cli
