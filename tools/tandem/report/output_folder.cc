// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/report/output_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <future>
#include <string>
#include <system_error>

#include "common/base/error.h"
#include "common/base/text.h"
#include "common/results/document.h"
#include "common/results/files.h"
#include "reports/render/csv.h"
#include "reports/render/formats.h"
#include "tools/tandem/report/redaction.h"

namespace tandem::cli {
namespace {

// Never throws: a path that cannot be looked at cannot be made either, and making the folder
// reports the error.
bool is_there(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

std::filesystem::path absolute_folder(const std::filesystem::path& path) {
  if (path.empty()) fail(ErrorKind::kUsage, "--out is empty; name a folder");
  return std::filesystem::absolute(path);
}

bool is_foreign_page(const std::filesystem::path& page) {
  std::string begin(1024, '\0');
  std::ifstream file(page);
  return file && (file.read(begin.data(), std::ssize(begin)), !reports::begins_page(begin));
}

// Whether others have asked for such results: those of GPUs, and the rows of tools/gpu_proof.
bool is_asked_for(const results::Document& document) {
  if (is_redacted(document)) return false;
  const bool of_gpus = std::ranges::any_of(document.launches, [](const auto& record) {
    return record.status == results::Status::kOk && record.cell.backend == "cuda";
  });
  return of_gpus || std::ranges::any_of(document.others,
                                        [](const auto& entry) { return entry.source == "proof"; });
}

}  // namespace

std::filesystem::path new_folder(std::string_view name) {
  for (int number = 1;; ++number) {
    const std::filesystem::path folder =
        std::filesystem::path("out") / fmt::format("{}-{}", name, number);
    if (!is_there(folder)) return folder;  // the writer reports an unreadable path
  }
}

std::string how_to_go_on(const std::filesystem::path& folder, bool was_named) {
  if (was_named) return "run the same command again to go on";
  return fmt::format("the same command with --out={} goes on",
                     shell_word(std::filesystem::relative(folder).string()));
}

OutputPaths::OutputPaths(const std::filesystem::path& folder) : folder_(absolute_folder(folder)) {}

void OutputPaths::check_apart(std::string_view option,
                              const std::vector<std::filesystem::path>& inputs, ResultsFile results,
                              ResultsFile sent) const {
  for (const char* name : {"report.html", "report.md", "cells.csv", "comparisons.csv",
                           "samples.csv", "explain.md", "unfinished"}) {
    results::check_is_no_input(folder_ / name, option, inputs);
  }
  if (sent == ResultsFile::kWritten) results::check_is_no_input(to_send(), option, inputs);
  if (results == ResultsFile::kWritten) results::check_is_no_input(this->results(), option, inputs);
}

void OutputPaths::check_holds_no_other() const {
  if (is_there(journal())) return;
  for (const std::filesystem::path& other : {results(), page()}) {
    if (!is_there(other)) continue;
    fail(ErrorKind::kUsage,
         "--out: {} holds a {} that is not of this run and would be overwritten: choose another "
         "folder",
         folder_.string(), other.filename().string());
  }
}

OutputFolder::OutputFolder(const std::filesystem::path& path)
    : OutputPaths(path),
      is_new_(!is_there(folder())),
      had_logs_(is_there(folder() / "logs")),
      had_journal_(is_there(journal())) {
  if (is_foreign_page(page())) {
    fail(
        ErrorKind::kUsage,
        "--out: {} holds a {} that is not Tandem's and would be overwritten: choose another folder",
        folder().string(), page().filename().string());
  }
  std::error_code error;
  std::filesystem::create_directories(folder(), error);
  if (error) {
    fail(ErrorKind::kUsage, "making the output folder {}: {}; choose another --out",
         folder().string(), error.message());
  }
  try {
    results::check_folder_takes_files(folder());
  } catch (const Error&) {
    if (is_new_) std::filesystem::remove(folder(), error);
    throw;
  }
}

std::filesystem::path OutputFolder::logs() const {
  results::make_folder(folder() / "logs");
  return folder() / "logs";
}

bool OutputFolder::is_unfinished() const { return is_there(mark()); }

void OutputFolder::mark_unfinished() const {
  results::replace_file(
      mark(), "launches are missing; the same command, with this folder as --out, goes on\n");
}

void OutputFolder::mark_finished() const { std::filesystem::remove(mark()); }

void OutputFolder::take(const std::filesystem::path& file) {
  const std::filesystem::path copy = folder() / file.filename();
  std::error_code error;
  std::filesystem::copy_file(file, copy, std::filesystem::copy_options::overwrite_existing, error);
  if (error) {
    fail(ErrorKind::kFailure, "writing {}: {}; make room there, or choose another --out",
         copy.string(), error.message());
  }
  taken_.push_back(copy);
}

void OutputFolder::withdraw() const {
  if (had_journal_) return;
  std::error_code ignored;
  std::filesystem::remove(journal(), ignored);
  std::filesystem::remove(mark(), ignored);
  for (const std::filesystem::path& copy : taken_) std::filesystem::remove(copy, ignored);
  if (!had_logs_) std::filesystem::remove_all(folder() / "logs", ignored);
  if (is_new_) std::filesystem::remove(folder(), ignored);  // fails where the folder is not empty
}

void OutputFolder::write(const reports::Report& report, ResultsFile results) const {
  // results.json is the largest file, so its writer runs beside the others where the system has
  // threads.
  std::future<void> document = std::async([&] {
    if (results == ResultsFile::kWritten) results::write_document(this->results(), report.document);
  });
  std::future<void> samples = std::async([&] {
    results::replace_file(folder() / "samples.csv", [&](const results::TextSink& sink) {
      reports::write_samples_csv(sink, report.summary);
    });
  });
  results::replace_file(folder() / "cells.csv", reports::to_csv(report.summary));
  results::replace_file(folder() / "comparisons.csv", reports::to_comparisons_csv(report.summary));
  results::replace_file(folder() / "report.md", reports::to_markdown(report));
  results::replace_file(page(), reports::to_html(report));
  document.get();
  samples.get();
}

void OutputFolder::write_to_send(const results::Document& document) const {
  if (!is_asked_for(document)) return;
  results::replace_file(to_send(), redacted(document));
  fmt::print("to send, for reports/samples: {} (docs/results.md says what stays in it)\n",
             to_send().string());
}

}  // namespace tandem::cli
