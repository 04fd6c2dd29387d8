// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/model/document_change.h"

namespace tandem::cli {

struct CompareOptions {
  std::string before;  // folder of `tandem run`, journal or results document
  std::string after;
  std::string threshold = "3%";  // percentages from 0 to 100, as the user wrote them
  std::string between_runs = "0%";
  std::string json;                       // file for the changes; empty: none
  std::string fail_on = "slower,failed";  // of slower, unsure, missing and failed; or none
  bool has_details = false;
};

// `tandem compare`: prints which cells became faster or slower from A to B. Returns 0, or
// kVerdictExit where a cell is what --fail-on names. Throws a usage error where A and B cannot be
// compared or read, a failure where the JSON file cannot be written.
[[nodiscard]] int compare_runs(const CompareOptions& options);

}  // namespace tandem::cli
