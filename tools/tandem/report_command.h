// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tandem::cli {

struct ReportOptions {
  std::vector<std::string> sources;    // folders of `tandem run`, journals or results documents
  std::vector<std::string> figures{};  // files of --benchmark_out, of other programs
  std::string out;                     // empty: the first source's folder
};

// `tandem report`: the same files as `tandem run` writes at its end. Several sources are merged:
// their launches of one cell count as launches of one cell. Figures of other programs are listed.
[[nodiscard]] int write_report(const ReportOptions& options);

}  // namespace tandem::cli
