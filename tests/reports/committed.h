// SPDX-License-Identifier: Apache-2.0
//
// Documents of runs that were made, committed with the reports that were made of them.
#pragma once

#include <fstream>
#include <iterator>
#include <string>

#include "common/results/document.h"
#include "reports/answer/report.h"

namespace tandem::reports {

// TANDEM_COMMITTED_ROOT: the source tree, given by CMake.
inline constexpr const char* kQuickSample = TANDEM_COMMITTED_ROOT "/reports/samples/quick-2-cores";
inline constexpr const char* kLadderSample =
    TANDEM_COMMITTED_ROOT "/reports/samples/explain-2-cores";
inline constexpr const char* kProofSample = TANDEM_COMMITTED_ROOT "/reports/samples/one-h100";
inline constexpr const char* kPretendedSample =
    TANDEM_COMMITTED_ROOT "/reports/samples/pretended-resnet50";
// A small sweep of a small model, and on it `tandem explain`, whose explain.md lies beside it.
inline constexpr const char* kExplainedSample = TANDEM_COMMITTED_ROOT "/tests/reports/explained";

inline std::string text_of(const std::string& folder, const std::string& name) {
  std::ifstream file(folder + "/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

inline Report committed_report(const std::string& folder) {
  return make_report(results::read_document(folder + "/results.json"));
}

}  // namespace tandem::reports
