// SPDX-License-Identifier: Apache-2.0
//
// `tandem report`.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include "common/base/error.h"
#include "common/results/document.h"
#include "common/results/files.h"
#include "reports/answer/panels.h"
#include "reports/answer/report.h"
#include "reports/render/formats.h"
#include "tools/tandem/report/output_folder.h"
#include "tools/tandem/report/redaction.h"
#include "tools/tandem/report/source_document.h"
#include "tools/tandem/verbs/verb.h"

namespace tandem::cli {
namespace {

namespace fs = std::filesystem;
using results::Document;

struct ReportOptions {
  std::vector<std::string> sources;    // folders of `tandem run`, journals or results documents
  std::vector<std::string> figures{};  // files of other programs' --benchmark_out
  bool has_details = false;
  std::string out;  // empty: the source's folder; several sources: a new one
};

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
                        const Document& document) {
  const OutputPaths names(out);
  std::error_code unknown;
  if (is_source(names.journal(), options) || is_source(names.results(), options)) return;
  const bool has_journal = fs::exists(names.journal(), unknown);
  if (!has_journal && !fs::exists(names.results(), unknown)) return;
  if (!has_journal) {
    const Document there = load_document(names.results());
    const bool loses_facts = is_redacted(document) && !is_redacted(there);
    if (!loses_facts && holds_all(document, there)) return;
  }
  fail(ErrorKind::kUsage,
       "--out: {} holds another run, whose report would be overwritten: choose another folder",
       out.string());
}

std::vector<Document> load_each(const std::vector<std::string>& sources) {
  std::vector<Document> documents;
  for (const std::string& source : sources) documents.push_back(load_document(source));
  return documents;
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
  check_keeps_others(out, options, document);
  add_figures(document, options.figures);
  const reports::Report report = reports::make_report(std::move(document), std::move(projected));
  check_one_question(report, options);
  const OutputFolder folder(out);
  folder.write(report, results);
  folder.write_to_send(report.document);
  fmt::print("{}{}\n", reports::to_terminal(report, reports::screen(options.has_details)),
             folder.page().string());
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
  if (measured.size() != 1) {
    fail(ErrorKind::kUsage,
         "reporting {} sources: {} of them are measured and {} projected; give one measured source "
         "and projections; tandem compare judges one run against another",
         documents.size(), measured.size(), projected.size());
  }
  return write_as_one(options, std::move(measured.front()), std::move(projected), out);
}

// Writes the files that `tandem run` writes at its end. One measured source may have projections of
// the same question beside it. Figures of other programs are listed.
int write_report(const ReportOptions& options) {
  const std::string& first = options.sources.front();
  if (options.sources.size() == 1) {
    Document document = load_document(first);
    auto projected =
        is_projection(document) ? std::vector<reports::ProjectedDocument>{} : projected_in(first);
    return write_as_one(options, std::move(document), std::move(projected),
                        options.out.empty() ? folder_beside(first) : fs::path(options.out));
  }
  const fs::path out = options.out.empty() ? new_folder("report") : fs::path(options.out);
  return write_beside_projections(options, load_each(options.sources), out);
}

}  // namespace

void add_report(CLI::App& app, Verbs& verbs) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App& report = add_command(
      app, {.name = "report",
            .what = "write the page, Markdown and tables of a run\n"
                    "results.json, report.html, report.md and *.csv. Projections of the same "
                    "question stand beside the measured run, in panels of their own.",
            .examples = "  tandem report out/quick-1\n"
                        "  tandem report out/quick-1 out/project-1"});
  report
      .add_option("SOURCE", options->sources,
                  "folders of tandem run, journal.jsonl or results.json")
      ->required();
  add(report, "--figures FILE", options->figures,
      "a file that collective_bench or another program wrote with --benchmark_out, to be "
      "listed as well; may be given again")
      ->allow_extra_args(false);
  add(report, "--out FOLDER", options->out,
      "folder for the report; default: that of the source, of several out/report-1");
  add_details(report, options->has_details);
  verbs.push_back({&report, [options](const Call&) { return write_report(*options); }});
}

}  // namespace tandem::cli
