// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>

#include "common/results/document.h"
#include "reports/model/ladder.h"

namespace tandem::cli {

// How launches are measured. Launches added to a journal take the journal's own settings.
struct MeasuringSettings {
  std::string backend = "auto";
  std::string min_time = "500ms";
  int min_samples = 10;
  bool oversubscribe = false;
  std::string site{};  // text_of(LaunchSite)
};

// The plan in a journal's definition, whether of a sweep or of an explanation.
struct PlannedBefore {
  MeasuringSettings settings;
  std::set<std::string> cells;  // names of cells
};

// Throws a failure that names `source` where the definition is neither a sweep's nor an
// explanation's.
[[nodiscard]] PlannedBefore planned_by(const std::string& definition, const std::string& source);

// The canonical JSON of everything that decides what a separate explanation measures.
[[nodiscard]] std::string definition_of(const reports::GapQuestion& question, int launches,
                                        const MeasuringSettings& settings);

// The folder in which an explanation finds launches and puts its own.
struct ExplainSource {
  std::filesystem::path folder;
  bool is_given = false;                        // given by FOLDER, not by --out
  bool has_journal = false;                     // without a journal no launch can be added
  std::optional<results::Document> document{};  // the launches measured so far
};

// Opens FOLDER (a folder of tandem run or explain, its journal.jsonl or its results.json, or a copy
// of such a file, to which nothing can be added) or --out, not both; without either, a new folder
// out/explain-N. Throws usage errors.
[[nodiscard]] ExplainSource find_source(const std::string& file, const std::string& out);

}  // namespace tandem::cli
