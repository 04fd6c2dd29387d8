// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "common/results/document.h"

namespace tandem::cli {

// Where an explanation finds launches and puts its own launches.
struct ExplainSource {
  std::filesystem::path folder;
  bool is_given = false;                      // given by FILE, not by --out
  bool has_journal = false;                   // without a journal no launch can be added
  std::optional<results::Document> document;  // the launches measured so far
};

// Opens FILE (a folder of tandem run or explain, its journal.jsonl or its results.json, or a copy
// of such a file, to which nothing can be added) or --out, not both; without either, a new folder
// out/explain-N. Throws usage errors.
[[nodiscard]] ExplainSource find_source(const std::string& file, const std::string& out);

}  // namespace tandem::cli
