// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/document_change.h"

namespace tandem::cli {

// As given, percentages such as "3%".
struct RuleOptions {
  std::string threshold = "3%";
  std::string between_runs = "0%";
  bool is_given = false;  // one of them, by the user
};

// Throws a usage error that names the option on whatever is no percentage from 0 to 100.
[[nodiscard]] reports::ChangeRule rule_of(const RuleOptions& options);

struct CompareOptions {
  std::string before;  // folder of `tandem run`, journal or results document
  std::string after;
  RuleOptions rule;
  std::string json;  // file; empty: none
};

// `tandem compare`: prints which cells became faster or slower from A to B. Returns 0, or 1 where a
// cell is SLOWER. Whatever keeps it from comparing is a usage error, also a file that cannot be
// read; what cannot be written is a failure.
[[nodiscard]] int compare_runs(const CompareOptions& options);

}  // namespace tandem::cli
