// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "common/results/document.h"

namespace tandem::cli {

// Where an explanation finds launches and puts what it adds.
struct ExplainSource {
  std::filesystem::path folder;
  bool is_given = false;                      // FILE, not --out
  bool has_journal = false;                   // else nothing can be added
  std::optional<results::Document> document;  // what is there already
};

// From FILE (a folder of tandem run or explain, its journal.jsonl or its results.json, or a copy of
// one of these, to which nothing can be added) or --out, not both; with neither a new folder
// out/explain-N. Throws usage errors.
[[nodiscard]] ExplainSource find_source(const std::string& file, const std::string& out);

}  // namespace tandem::cli
