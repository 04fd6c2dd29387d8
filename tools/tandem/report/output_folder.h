// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "reports/answer/report.h"

namespace tandem::cli {

// The path out/explain-1 for "explain", or the next free number. Makes no folder.
[[nodiscard]] std::filesystem::path new_folder(std::string_view name);

// How what was interrupted goes on: by the same command where that named the folder, else with
// --out.
[[nodiscard]] std::string how_to_go_on(const std::filesystem::path& folder, bool was_named);

// Whether a file of results is written, or stays as it is, since it is an input.
enum class ResultsFile { kWritten, kKept };

// The paths of the files in the folder that --out names. Makes no folder.
class OutputPaths {
 public:
  // Throws a usage error where `folder` is empty.
  explicit OutputPaths(const std::filesystem::path& folder);

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] std::filesystem::path journal() const { return folder_ / "journal.jsonl"; }
  [[nodiscard]] std::filesystem::path results() const { return folder_ / "results.json"; }
  [[nodiscard]] std::filesystem::path page() const { return folder_ / "report.html"; }
  [[nodiscard]] std::filesystem::path explanation() const { return folder_ / "explain.md"; }
  [[nodiscard]] std::filesystem::path to_send() const { return folder_ / "results-to-send.json"; }

  // Throws a usage error that names `option` where an output would overwrite one of `inputs`; with
  // `results` kept, results.json may be an input, with `sent` kept results-to-send.json.
  void check_apart(std::string_view option, const std::vector<std::filesystem::path>& inputs,
                   ResultsFile results = ResultsFile::kWritten,
                   ResultsFile sent = ResultsFile::kWritten) const;

  // Throws a usage error where the folder has a results.json or report.html and no journal to
  // continue: the file is all that is left of another run, or is not Tandem's.
  void check_holds_no_other() const;

 private:
  std::filesystem::path folder_;
};

// The folder itself. Throws a usage error where the folder cannot be made, a failure where the
// folder cannot be written to, both before any measurement.
class OutputFolder : public OutputPaths {
 public:
  explicit OutputFolder(const std::filesystem::path& path);

  // Makes the folder of logs on demand.
  [[nodiscard]] std::filesystem::path logs() const;

  // While launches of the sweep are missing the folder holds a file `unfinished`. results.json
  // cannot decide, since an interrupted run writes results.json too.
  [[nodiscard]] bool is_unfinished() const;
  void mark_unfinished() const;
  void mark_finished() const;

  // Copies a file that launches read into the folder, under its own name. Throws a failure where
  // that cannot be done.
  void take(const std::filesystem::path& file);

  // Removes what a run without measurements has written: journal, mark, logs and taken files, and
  // the folder where it is new. A folder that held a journal before stays as it is.
  void withdraw() const;

  // Writes results.json, report.html, report.md, cells.csv, comparisons.csv and samples.csv.
  void write(const reports::Report& report, ResultsFile results = ResultsFile::kWritten) const;
  // Writes results-to-send.json, where the results are of GPUs or of tools/gpu_proof: the results
  // without names of their owner. Says so. What was sent by others is not written again.
  void write_to_send(const results::Document& document) const;

 private:
  [[nodiscard]] std::filesystem::path mark() const { return folder() / "unfinished"; }

  bool is_new_;
  bool had_logs_;
  bool had_journal_;
  std::vector<std::filesystem::path> taken_{};  // copies in the folder
};

}  // namespace tandem::cli
