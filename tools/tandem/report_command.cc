// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/report_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include "common/base/error.h"
#include "common/results/document.h"
#include "reports/report.h"
#include "reports/side_by_side.h"
#include "reports/side_markdown.h"
#include "reports/subject.h"
#include "reports/terminal.h"
#include "tools/tandem/output_folder.h"
#include "tools/tandem/source_document.h"

namespace tandem::cli {
namespace {

namespace fs = std::filesystem;
using results::Document;

// Figures of two machines side by side in one verdict would be a verdict about neither.
void check_same_machine(const Document& first, const Document& next, const std::string& source) {
  const results::MachineFacts a = reports::machine_of(first);
  const results::MachineFacts b = reports::machine_of(next);
  if (a.cores == 0 || b.cores == 0) return;  // nothing measured there
  if (a.cpu_model == b.cpu_model && a.cores == b.cores) return;
  fail(ErrorKind::kUsage,
       "merging {}: it was measured on {} cores of {}, the first source on {} of {}; report them "
       "apart",
       source, b.cores, b.cpu_model, a.cores, a.cpu_model);
}

// By what no two launches share: times down to the nanosecond. The launch's number is not part of
// it, for merging numbers launches anew.
struct ByTimes {
  static auto key(const results::LaunchRecord& record) {
    const results::Cell& cell = record.cell;
    return std::tie(record.first_step_seconds, record.warmup_seconds, record.step_seconds,
                    record.mode, cell.strategy, cell.launch, cell.model, cell.devices,
                    cell.global_batch, cell.options);
  }
  bool operator()(const results::LaunchRecord* a, const results::LaunchRecord* b) const {
    return key(*a) < key(*b);
  }
};

// A launch that counts twice makes intervals narrower than they are.
void check_distinct(const std::vector<std::string>& sources,
                    const std::vector<Document>& documents) {
  if (documents.size() < 2) return;
  std::map<const results::LaunchRecord*, std::size_t, ByTimes> first_in;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    for (const results::LaunchRecord& record : documents[i].launches) {
      if (record.status != results::Status::kOk) continue;
      const std::size_t first = first_in.try_emplace(&record, i).first->second;
      if (first == i) continue;
      fail(ErrorKind::kUsage, "{} and {} hold the same launches: give each once", sources[first],
           sources[i]);
    }
  }
}

// A report of several in a source's folder would pass for that of the source.
void check_overwrites_none(const fs::path& out, const std::vector<std::string>& sources) {
  if (sources.size() < 2) return;
  for (const std::string& source : sources) {
    const fs::path folder = fs::absolute(file_in(source)).parent_path();
    std::error_code absent;  // an --out that is yet to be made
    if (!fs::equivalent(folder, out, absent)) continue;
    fail(ErrorKind::kUsage,
         "the report of all would overwrite that of {}; choose another folder with --out", source);
  }
}

// Launches of a cell are numbered on, so that none hides another.
void merge(Document& into, Document next) {
  std::map<std::string, int> taken;
  for (const auto& record : into.launches) {
    int& count = taken[record.cell.name()];
    count = std::max(count, record.launch_index + 1);
  }
  for (results::LaunchRecord& record : next.launches) {
    const auto found = taken.find(record.cell.name());
    if (found != taken.end()) record.launch_index += found->second;
    into.launches.push_back(std::move(record));
  }
  into.others.insert(into.others.end(), next.others.begin(), next.others.end());
}

std::vector<Document> load_each(const std::vector<std::string>& sources) {
  std::vector<Document> documents;
  for (const std::string& source : sources) documents.push_back(load_document(source));
  check_distinct(sources, documents);
  return documents;
}

Document load_merged(const std::vector<std::string>& sources) {
  std::vector<Document> documents = load_each(sources);
  for (std::size_t i = 1; i < documents.size(); ++i) {
    check_same_machine(documents.front(), documents[i], sources[i]);
    merge(documents.front(), std::move(documents[i]));
  }
  return std::move(documents.front());
}

// What a document holds already, of an earlier report, is not listed twice.
void add_figures(Document& document, const std::vector<std::string>& files) {
  std::vector<results::OtherEntry>& others = document.others;
  for (const std::string& file : files) {
    for (const results::OtherEntry& entry : results::read_benchmarks(file)) {
      if (std::find(others.begin(), others.end(), entry) == others.end()) others.push_back(entry);
    }
  }
}

void check_common_cells(const reports::SideBySide& side) {
  for (std::size_t i = 0; i < side.changes.size(); ++i) {
    if (!side.changes[i].cells.empty()) continue;
    fail(ErrorKind::kUsage,
         "reporting {} beside {}: no cell was measured in both; give runs of one sweep, or parts "
         "of one run with --merge",
         side.names[i + 1], side.names.front());
  }
}

int write_side_by_side(const ReportOptions& options) {
  if (!options.figures.empty()) {
    fail(ErrorKind::kUsage,
         "--figures belong to one document: report it by itself, or several as one with --merge");
  }
  const reports::ChangeRule rule = rule_of(options.rule);
  const fs::path out = options.out.empty() ? new_folder("report") : fs::path(options.out);
  check_overwrites_none(out, options.sources);
  std::vector<Document> documents = load_each(options.sources);
  std::vector<reports::NamedDocument> named;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    named.push_back({.name = options.sources[i], .document = std::move(documents[i])});
  }
  const reports::SideBySide side = reports::side_by_side(std::move(named), rule);
  check_common_cells(side);
  const OutputFolder folder(out);
  folder.write(side);
  fmt::print("{}\n{}\n", reports::to_terminal(side), folder.page().string());
  return 0;
}

}  // namespace

int write_report(const ReportOptions& options) {
  if (options.sources.size() > 1 && !options.merge) return write_side_by_side(options);
  const fs::path beside = file_in(options.sources.front()).parent_path();
  const fs::path out = !options.out.empty() ? fs::path(options.out)
                       : beside.empty()     ? fs::path(".")
                                            : beside;
  check_overwrites_none(out, options.sources);
  Document document = load_merged(options.sources);
  add_figures(document, options.figures);
  const OutputFolder folder(out);
  const reports::Report report = reports::make_report(std::move(document));
  folder.write(report);
  fmt::print("{}\n{}\n", reports::to_terminal(report), folder.page().string());
  return 0;
}

}  // namespace tandem::cli
