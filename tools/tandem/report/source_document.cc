// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/report/source_document.h"

#include <algorithm>
#include <map>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "common/results/journal.h"

namespace tandem::cli {

namespace {

namespace fs = std::filesystem;
using results::Document;
using results::LaunchRecord;

// Launches are compared by their times in nanoseconds, which no two launches share. The launch's
// number is left out, since merging changes the numbers.
struct ByTimes {
  static auto key(const LaunchRecord& record) {
    const results::Cell& cell = record.cell;
    return std::tie(record.first_step_seconds, record.warmup_seconds, record.step_seconds,
                    record.mode, cell.strategy, cell.launch, cell.model, cell.devices,
                    cell.global_batch, cell.options);
  }
  bool operator()(const LaunchRecord* a, const LaunchRecord* b) const { return key(*a) < key(*b); }
};

bool any_cell(const Document& document, bool (results::Cell::*is)() const) {
  return std::ranges::any_of(document.launches,
                             [&](const LaunchRecord& record) { return (record.cell.*is)(); });
}

std::string_view kind_of(const Document& document) {
  if (is_projection(document)) return "simulated";
  return any_cell(document, &results::Cell::is_pretended) ? "of pretended GPUs" : "measured";
}

}  // namespace

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

std::optional<Document> document_of_journal(const fs::path& journal) {
  return as_input([&]() -> std::optional<Document> {
    auto contents = results::read_journal(journal);
    if (!contents) return std::nullopt;
    return document_of(*std::move(contents));
  });
}

Document load_document(const fs::path& source) {
  const fs::path file = file_in(source);
  if (file.extension() != ".jsonl") return as_input([&] { return results::read_document(file); });
  if (auto document = document_of_journal(file)) return *std::move(document);
  fail(ErrorKind::kUsage, "reading {}: it holds no launch; run the sweep again", file.string());
}

bool is_projection(const Document& document) {
  return any_cell(document, &results::Cell::is_simulated);
}

void check_distinct(const std::vector<std::string>& sources,
                    const std::vector<Document>& documents) {
  if (documents.size() < 2) return;
  std::map<const LaunchRecord*, std::size_t, ByTimes> first_in;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    for (const LaunchRecord& record : documents[i].launches) {
      if (record.status != results::Status::kOk) continue;
      const std::size_t first = first_in.try_emplace(&record, i).first->second;
      if (first == i) continue;
      fail(ErrorKind::kUsage, "{} and {} hold the same launches: give each once", sources[first],
           sources[i]);
    }
  }
}

void check_same_kind(const std::string& a, const Document& of_a, const std::string& b,
                     const Document& of_b) {
  const std::string_view first = kind_of(of_a);
  const std::string_view other = kind_of(of_b);
  if (first == other) return;
  fail(ErrorKind::kUsage,
       "{} and {}: one is {} and the other {}, so that their figures are of different things; keep "
       "them apart",
       a, b, first, other);
}

bool holds_all(const Document& whole, const Document& part) {
  std::set<const LaunchRecord*, ByTimes> held;
  for (const LaunchRecord& record : whole.launches) held.insert(&record);
  return std::ranges::all_of(part.launches, [&](const LaunchRecord& record) {
    return record.status != results::Status::kOk || held.contains(&record);
  });
}

}  // namespace tandem::cli
