// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/source_document.h"

#include <utility>

#include "common/base/error.h"
#include "common/results/journal.h"

namespace tandem::cli {

namespace fs = std::filesystem;
using results::Document;

fs::path file_in(const fs::path& source) {
  if (!fs::exists(source)) {
    fail(ErrorKind::kUsage, "reading {}: there is no such file or folder; check the path",
         source.string());
  }
  if (!fs::is_directory(source)) return source;
  for (const char* name : {"journal.jsonl", "results.json"}) {
    if (fs::exists(source / name)) return source / name;
  }
  fail(
      ErrorKind::kUsage,
      "reading {}: it holds neither journal.jsonl nor results.json; give the --out of a tandem run",
      source.string());
}

Document load_document(const fs::path& source) {
  const fs::path file = file_in(source);
  if (file.extension() != ".jsonl") return results::read_document(file);
  auto journal = results::read_journal(file);
  if (!journal) {
    fail(ErrorKind::kUsage, "reading {}: it holds no launch; run the sweep again", file.string());
  }
  return {.sweep = std::move(journal->sweep), .launches = std::move(journal->launches)};
}

}  // namespace tandem::cli
