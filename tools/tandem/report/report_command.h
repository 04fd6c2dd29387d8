// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace tandem::cli {

struct ReportOptions {
  std::vector<std::string> sources;    // folders of `tandem run`, journals or results documents
  std::vector<std::string> figures{};  // files of other programs' --benchmark_out
  bool has_details = false;
  std::string out;  // empty: the source's folder; several sources: a new one
};

// `tandem report`: writes the files that `tandem run` writes at its end. One measured source
// may have projections of the same question beside it. Figures of other programs are listed.
[[nodiscard]] int write_report(const ReportOptions& options);

}  // namespace tandem::cli
