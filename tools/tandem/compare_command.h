// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tandem::cli {

struct CompareOptions {
  std::string before;  // folder of `tandem run`, journal or results document
  std::string after;
  std::string threshold = "3%";
  std::string between_runs = "0%";
  std::string json;  // file; empty: none
};

// "3%" as 0.03. Throws a usage error that names the option on whatever is no percentage from 0 to
// 100.
[[nodiscard]] double percentage_from(const std::string& text, std::string_view option);

// `tandem compare`: prints which cells became faster or slower from A to B. Returns 0, or 1 where a
// cell is SLOWER. Whatever keeps it from telling is a usage error, also a file that cannot be read
// or written, so that 1 has no other meaning.
[[nodiscard]] int compare_runs(const CompareOptions& options);

}  // namespace tandem::cli
