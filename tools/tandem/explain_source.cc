// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/explain_source.h"

#include <utility>

#include "common/base/error.h"
#include "common/results/journal.h"
#include "tools/tandem/output_folder.h"

namespace tandem::cli {
namespace {

namespace fs = std::filesystem;

fs::path folder_of(const fs::path& file) {
  std::error_code error;
  if (!fs::exists(file, error)) {
    fail(ErrorKind::kUsage, "reading {}: there is no such file or folder; check the path",
         file.string());
  }
  if (fs::is_directory(file)) return file;
  if (file.filename() == "journal.jsonl" || file.filename() == "results.json") {
    return fs::absolute(file).parent_path();
  }
  fail(ErrorKind::kUsage,
       "reading {}: it is neither journal.jsonl nor results.json; give one of them, or the --out "
       "of a tandem run",
       file.string());
}

std::optional<results::Document> from_journal(const fs::path& path) {
  auto journal = results::read_journal(path);
  if (!journal) return std::nullopt;
  return results::Document{.sweep = std::move(journal->sweep),
                           .launches = std::move(journal->launches)};
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
            .document = from_journal(folder / "journal.jsonl")};
  }
  ExplainSource source{
      .folder = folder_of(file), .is_given = true, .has_journal = false, .document = {}};
  source.document = from_journal(source.folder / "journal.jsonl");
  source.has_journal = source.document.has_value();
  const fs::path results = source.folder / "results.json";
  if (!source.document && fs::exists(results)) source.document = results::read_document(results);
  if (!source.document) {
    fail(ErrorKind::kUsage,
         "reading {}: it holds neither journal.jsonl nor results.json; give the --out of a tandem "
         "run",
         source.folder.string());
  }
  return source;
}

}  // namespace tandem::cli
