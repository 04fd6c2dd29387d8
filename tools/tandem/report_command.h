// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tools/tandem/compare_command.h"

namespace tandem::cli {

struct ReportOptions {
  std::vector<std::string> sources;    // folders of `tandem run`, journals or results documents
  std::vector<std::string> figures{};  // files of --benchmark_out, of other programs
  std::string out;                     // empty: the source's folder, of several a new one
  bool merge = false;                  // several sources are parts of one run
  RuleOptions rule;                    // for documents side by side, as `tandem compare` has it
};

// `tandem report`: the same files as `tandem run` writes at its end. Several sources stand side by
// side on one page and in one report.md, each judged against the first; with `merge` they are one
// document, their launches of one cell counting as launches of one cell. Figures of other programs
// are listed.
[[nodiscard]] int write_report(const ReportOptions& options);

}  // namespace tandem::cli
