// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/report/source_document.h"

#include <system_error>
#include <utility>

#include "common/base/error.h"
#include "common/results/journal.h"

namespace tandem::cli {

namespace fs = std::filesystem;
using results::Document;

fs::path file_in(const fs::path& source) {
  std::error_code error;
  const fs::file_status status = fs::status(source, error);
  if (status.type() == fs::file_type::not_found) {
    fail(ErrorKind::kUsage, "reading {}: there is no such file or folder; check the path",
         source.string());
  }
  if (error) {
    fail(ErrorKind::kUsage, "reading {}: {}; check the path", source.string(), error.message());
  }
  if (!fs::is_directory(status)) return source;
  for (const char* name : {"journal.jsonl", "results.json"}) {
    if (fs::exists(source / name, error)) return source / name;
  }
  fail(
      ErrorKind::kUsage,
      "reading {}: it holds neither journal.jsonl nor results.json; give the --out of a tandem run",
      source.string());
}

Document load_document(const fs::path& source) {
  const fs::path file = file_in(source);
  return as_input([&]() -> Document {
    if (file.extension() != ".jsonl") return results::read_document(file);
    auto journal = results::read_journal(file);
    if (!journal) {
      fail(ErrorKind::kUsage, "reading {}: it holds no launch; run the sweep again", file.string());
    }
    return {.sweep = std::move(journal->sweep), .launches = std::move(journal->launches)};
  });
}

}  // namespace tandem::cli
