// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/explain/explain_source.h"

#include <utility>

#include "common/base/error.h"
#include "common/results/journal.h"
#include "tools/tandem/report/output_folder.h"
#include "tools/tandem/report/source_document.h"

namespace tandem::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kJournal = "journal.jsonl";
constexpr const char* kResults = "results.json";

std::optional<results::Document> from_journal(const fs::path& path) {
  return as_input([&]() -> std::optional<results::Document> {
    auto journal = results::read_journal(path);
    if (!journal) return std::nullopt;
    return results::Document{.sweep = std::move(journal->sweep),
                             .launches = std::move(journal->launches)};
  });
}

}  // namespace

ExplainSource find_source(const std::string& file, const std::string& out) {
  if (!file.empty() && !out.empty()) {
    fail(ErrorKind::kUsage,
         "tandem explain: give either FILE, whose journal it adds to, or --out for a journal of "
         "its own, not both");
  }
  if (file.empty()) {
    const fs::path folder = out.empty() ? new_folder("explain") : fs::path(out);
    return {.folder = folder,
            .is_given = false,
            .has_journal = true,
            .document = from_journal(folder / kJournal)};
  }
  const fs::path read = file_in(file);
  ExplainSource source{.folder = fs::absolute(read).parent_path(),
                       .is_given = true,
                       .has_journal = false,
                       .document = {}};
  const fs::path name = read.filename();
  if (name == kJournal || name == kResults)
    source.document = from_journal(source.folder / kJournal);
  source.has_journal = source.document.has_value();
  if (source.document) return source;
  const fs::path results = name == kJournal ? source.folder / kResults : read;
  std::error_code unreadable;
  source.document = load_document(fs::exists(results, unreadable) ? results : read);
  return source;
}

}  // namespace tandem::cli
