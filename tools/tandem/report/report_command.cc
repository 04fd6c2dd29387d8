// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/report/report_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>
#include <utility>

#include "common/base/error.h"
#include "common/results/document.h"
#include "common/results/files.h"
#include "reports/answer/panels.h"
#include "reports/answer/report.h"
#include "reports/answer/side_by_side.h"
#include "reports/model/subject.h"
#include "reports/render/formats.h"
#include "tools/tandem/report/output_folder.h"
#include "tools/tandem/report/redaction.h"
#include "tools/tandem/report/source_document.h"

namespace tandem::cli {
namespace {

namespace fs = std::filesystem;
using results::Document;

// Throws a usage error where the machines differ: one verdict over two machines would fit neither.
void check_same_machine(const Document& first, const Document& next, const std::string& source) {
  const results::MachineFacts a = reports::machine_of(first);
  const results::MachineFacts b = reports::machine_of(next);
  if (a.cores == 0 || b.cores == 0) return;  // no launch measured there
  if (a.cpu_model == b.cpu_model && a.cores == b.cores) return;
  fail(ErrorKind::kUsage,
       "merging {}: it was measured on {} cores of {}, the first source on {} of {}; report them "
       "apart",
       source, b.cores, b.cpu_model, a.cores, a.cpu_model);
}

// The files that the report reads, also the figures of other programs.
std::vector<fs::path> inputs_of(const ReportOptions& options) {
  std::vector<fs::path> inputs(options.figures.begin(), options.figures.end());
  for (const std::string& source : options.sources) inputs.push_back(file_in(source));
  return inputs;
}

bool is_source(const fs::path& file, const ReportOptions& options) {
  return std::ranges::any_of(options.sources, [&](const std::string& source) {
    return results::is_same_file(file, file_in(source));
  });
}

// Throws a usage error where the report of several sources would overwrite a source's own report.
void check_overwrites_none(const fs::path& out, const std::vector<std::string>& sources) {
  if (sources.size() < 2) return;
  for (const std::string& source : sources) {
    const fs::path folder = fs::absolute(file_in(source)).parent_path();
    std::error_code absent;  // set where --out does not exist yet
    if (!fs::equivalent(folder, out, absent)) continue;
    fail(ErrorKind::kUsage,
         "the report of all would overwrite that of {}; choose another folder with --out", source);
  }
}

// Throws a usage error where --out holds another run, of which results.json may be the only file
// left.
void check_keeps_others(const fs::path& out, const ReportOptions& options,
                        const Document* document) {
  const OutputPaths names(out);
  std::error_code unknown;
  if (is_source(names.journal(), options) || is_source(names.results(), options)) return;
  const bool has_journal = fs::exists(names.journal(), unknown);
  if (!has_journal && !fs::exists(names.results(), unknown)) return;
  if (!has_journal && document != nullptr) {
    const Document there = load_document(names.results());
    const bool loses_facts = is_redacted(*document) && !is_redacted(there);
    if (!loses_facts && holds_all(*document, there)) return;
  }
  fail(ErrorKind::kUsage,
       "--out: {} holds another run, whose report would be overwritten: choose another folder",
       out.string());
}

// Merges the origins of two documents: all commands, and the busiest machine, since a load in any
// part took time from the measured launches.
void merge_origins(results::SweepInfo& into, const results::SweepInfo& next) {
  const auto commands_of = [](const results::SweepInfo& sweep) {
    return sweep.commands.empty() ? std::vector<std::vector<std::string>>(1) : sweep.commands;
  };
  into.commands = commands_of(into);
  for (auto& command : commands_of(next)) into.commands.push_back(std::move(command));
  into.against.reset();
  if (into.context.load_avg < next.context.load_avg) {
    into.context.load_avg = next.context.load_avg;
  }
}

// The launches of a document that shares a cell with the others get later numbers, all by as much,
// so that no launch hides another and rounds stay rounds.
void merge(Document& into, Document next) {
  std::set<std::string> known;
  int rounds = 0;
  for (const auto& record : into.launches) {
    known.insert(record.cell.name());
    rounds = std::max(rounds, record.launch_index + 1);
  }
  const bool shares = std::ranges::any_of(
      next.launches, [&](const auto& record) { return known.contains(record.cell.name()); });
  for (results::LaunchRecord& record : next.launches) {
    if (shares) record.launch_index += rounds;
    into.launches.push_back(std::move(record));
  }
  merge_origins(into.sweep, next.sweep);
  into.others.insert(into.others.end(), next.others.begin(), next.others.end());
}

bool is_reference(const Document& document) {
  return document.sweep.against && document.sweep.against->is_reference;
}

// Throws a usage error where some documents are references, of another build or setting, or
// resolved.
void check_alike(const std::vector<std::string>& sources, const std::vector<Document>& documents) {
  for (std::size_t i = 0; i < documents.size() && documents.size() > 1; ++i) {
    if (is_reference(documents[i])) {
      fail(ErrorKind::kUsage,
           "{}: it is the reference of a run, of another build or setting, which is in no other's "
           "figures: tandem compare is for it and its run",
           sources[i]);
    }
    if (documents[i].sweep.resolving) {
      fail(ErrorKind::kUsage,
           "{}: its launches were added until its verdicts were resolved, so that it is no part of "
           "another document; tandem compare holds both side by side",
           sources[i]);
    }
  }
}

std::vector<Document> load_each(const std::vector<std::string>& sources) {
  std::vector<Document> documents;
  for (const std::string& source : sources) documents.push_back(load_document(source));
  return documents;
}

void check_comparable(const std::vector<std::string>& sources,
                      const std::vector<Document>& documents) {
  for (std::size_t i = 1; i < documents.size(); ++i) {
    check_same_kind(sources[0], documents[0], sources[i], documents[i]);
  }
  check_distinct(sources, documents);
}

// The sources as one document.
Document load_merged(const std::vector<std::string>& sources) {
  std::vector<Document> documents = load_each(sources);
  check_comparable(sources, documents);
  check_alike(sources, documents);
  for (std::size_t i = 1; i < documents.size(); ++i) {
    check_same_machine(documents.front(), documents[i], sources[i]);
    merge(documents.front(), std::move(documents[i]));
  }
  return std::move(documents.front());
}

// Figures that a document already holds from an earlier report are not listed twice.
void add_figures(Document& document, const std::vector<std::string>& files) {
  std::vector<results::OtherEntry>& others = document.others;
  for (const std::string& file : files) {
    const auto entries = as_input([&] { return results::read_benchmarks(file); });
    for (const results::OtherEntry& entry : entries) {
      if (std::ranges::find(others, entry) == others.end()) others.push_back(entry);
    }
  }
}

void check_common_cells(const reports::SideBySide& side) {
  for (std::size_t i = 0; i < side.changes.size(); ++i) {
    if (!side.changes[i].cells.empty()) continue;
    fail(ErrorKind::kUsage,
         "reporting {} beside {}: no cell was measured in both; give runs of one sweep, or "
         "parts of one run to tandem merge",
         side.names[i + 1], side.names.front());
  }
}

void check_rule_is_used(const RuleOptions& rule) {
  if (!rule.is_given) return;
  fail(
      ErrorKind::kUsage,
      "--threshold and --between-runs are of several measured sources side by side, and do nothing "
      "with one document, nor with projections beside it: leave them out, or give a second "
      "measured source");
}

// Throws a usage error where a projection that was asked for answers nothing that was measured; one
// that lies in the run's folder stays on its own page.
void check_one_question(const reports::Report& report, const ReportOptions& options) {
  for (const std::string& name : reports::projections_apart(report)) {
    const std::string what = fmt::format(
        "{}: no projected cell has the model, samples per device, precision and mode of a measured "
        "one",
        name);
    if (std::ranges::find(options.sources, name) != options.sources.end()) {
      fail(ErrorKind::kUsage, "{}; report each by itself", what);
    }
    fmt::print("{}; its own page has it\n", what);
  }
}

// The report of one document goes to `out`, beside projections of its questions; `--figures` are
// listed in it.
int write_as_one(const ReportOptions& options, Document document,
                 std::vector<reports::ProjectedDocument> projected, const fs::path& out) {
  check_overwrites_none(out, options.sources);
  const OutputPaths names(out);
  const ResultsFile results =
      is_source(names.results(), options) ? ResultsFile::kKept : ResultsFile::kWritten;
  const ResultsFile sent = is_redacted(document) ? ResultsFile::kKept : ResultsFile::kWritten;
  names.check_apart("--out", inputs_of(options), results, sent);
  check_keeps_others(out, options, &document);
  add_figures(document, options.figures);
  const reports::Report report = reports::make_report(std::move(document), std::move(projected));
  check_one_question(report, options);
  const OutputFolder folder(out);
  folder.write(report, results);
  folder.write_to_send(report.document);
  fmt::print("{}\n{}\n", reports::to_terminal(report), folder.page().string());
  return 0;
}

int write_side_by_side(const ReportOptions& options, const reports::ChangeRule& rule,
                       std::vector<Document> documents, const fs::path& out) {
  if (!options.figures.empty()) {
    fail(
        ErrorKind::kUsage,
        "--figures belong to one document: report it by itself, or several as one by tandem merge");
  }
  check_comparable(options.sources, documents);
  check_overwrites_none(out, options.sources);
  check_keeps_others(out, options, nullptr);
  OutputPaths(out).check_apart("--out", inputs_of(options));
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

// The folder of the source.
fs::path folder_beside(const std::string& source) {
  const fs::path folder = file_in(source).parent_path();
  return folder.empty() ? fs::path(".") : folder;
}

reports::ProjectedDocument as_projected(const std::string& name, Document document) {
  reports::ProjectedDocument projected{
      .name = name, .document = std::move(document), .summary = {}};
  projected.summary = reports::summarize(projected.document);
  return projected;
}

// The projection that `tandem project FOLDER` has left in the source's folder, if one.
std::vector<reports::ProjectedDocument> projected_in(const std::string& source) {
  std::vector<reports::ProjectedDocument> projected;
  const fs::path folder = folder_beside(source) / "projected";
  std::error_code unknown;
  if (!fs::exists(folder / "results.json", unknown)) return projected;
  Document document = load_document(folder);
  if (is_projection(document)) {
    projected.push_back(as_projected(folder.string(), std::move(document)));
  }
  return projected;
}

// One measured document beside projections of its questions.
int write_beside_projections(const ReportOptions& options, std::vector<Document> documents,
                             const fs::path& out) {
  check_distinct(options.sources, documents);
  std::vector<Document> measured;
  std::vector<reports::ProjectedDocument> projected;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    if (is_projection(documents[i])) {
      projected.push_back(as_projected(options.sources[i], std::move(documents[i])));
    } else {
      measured.push_back(std::move(documents[i]));
    }
  }
  if (measured.size() > 1) {
    fail(ErrorKind::kUsage,
         "reporting {} sources: {} of them are measured and {} projected; give one measured source "
         "and projections, or measured ones alone",
         documents.size(), measured.size(), projected.size());
  }
  return write_as_one(options, std::move(measured.front()), std::move(projected), out);
}

bool are_mixed(const std::vector<Document>& documents) {
  const auto projections = std::ranges::count_if(documents, is_projection);
  return projections > 0 && projections < std::ssize(documents);
}

}  // namespace

int write_report(const ReportOptions& options) {
  const reports::ChangeRule rule = rule_of(options.rule);
  const std::string& first = options.sources.front();
  if (options.sources.size() == 1) {
    check_rule_is_used(options.rule);
    Document document = load_document(first);
    auto projected =
        is_projection(document) ? std::vector<reports::ProjectedDocument>{} : projected_in(first);
    return write_as_one(options, std::move(document), std::move(projected),
                        options.out.empty() ? folder_beside(first) : fs::path(options.out));
  }
  const fs::path out = options.out.empty() ? new_folder("report") : fs::path(options.out);
  std::vector<Document> documents = load_each(options.sources);
  if (!are_mixed(documents)) return write_side_by_side(options, rule, std::move(documents), out);
  check_rule_is_used(options.rule);
  return write_beside_projections(options, std::move(documents), out);
}

int merge_runs(const MergeOptions& options) {
  if (options.sources.size() < 2) {
    fail(ErrorKind::kUsage, "merge: {} is one source; give two or more parts of one run",
         options.sources.front());
  }
  return write_as_one({.sources = options.sources, .figures = options.figures, .out = options.out},
                      load_merged(options.sources), {},
                      options.out.empty() ? new_folder("merge") : fs::path(options.out));
}

}  // namespace tandem::cli
