// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "reports/report.h"
#include "reports/side_by_side.h"

namespace tandem::cli {

// out/explain-1, or the next number that is free, of "explain". Makes nothing.
[[nodiscard]] std::filesystem::path new_folder(std::string_view name);

// Whether results.json is written, or is what is read and so stays as it is.
enum class ResultsFile { kWritten, kKept };

// The folder that --out names. Throws a usage error where it cannot be made, a failure where it
// cannot be written to; both are found out before anything is measured.
class OutputFolder {
 public:
  // Its files' paths. Makes nothing.
  class Names {
   public:
    // Throws a usage error where there is no name.
    explicit Names(const std::filesystem::path& folder);

    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
    [[nodiscard]] std::filesystem::path journal() const { return folder_ / "journal.jsonl"; }
    [[nodiscard]] std::filesystem::path results() const { return folder_ / "results.json"; }

    // Throws a usage error that names `option` where one of `inputs` would be overwritten; with
    // `results` kept, results.json may be one.
    void check_apart(std::string_view option, const std::vector<std::filesystem::path>& inputs,
                     ResultsFile results = ResultsFile::kWritten) const;

    // Throws a usage error where there is a results.json and no journal to go on with: it is of
    // another run, and all that is left of it.
    void check_holds_no_other() const;

   private:
    std::filesystem::path folder_;
  };

  explicit OutputFolder(const std::filesystem::path& path);

  [[nodiscard]] std::filesystem::path journal() const { return names_.journal(); }
  [[nodiscard]] std::filesystem::path page() const { return path_ / "report.html"; }
  [[nodiscard]] std::filesystem::path explanation() const { return path_ / "explain.md"; }
  // Made on demand.
  [[nodiscard]] std::filesystem::path logs() const;

  // While launches of the sweep are missing the folder holds a file `unfinished`: results.json is
  // written after an interrupt too, so that it does not tell.
  [[nodiscard]] bool is_unfinished() const;
  void mark_unfinished() const;
  void mark_finished() const;

  // Undoes what a run has written that measured nothing: journal, mark and logs, and the folder
  // where it is new. Leaves a folder that held a journal before as it is.
  void withdraw() const;

  // results.json, report.html, report.md, cells.csv, comparisons.csv, samples.csv.
  void write(const reports::Report& report, ResultsFile results = ResultsFile::kWritten) const;
  // report.html and report.md: what else there is of each document is in its own folder.
  void write(const reports::SideBySide& side) const;

 private:
  [[nodiscard]] std::filesystem::path mark() const { return path_ / "unfinished"; }

  Names names_;
  std::filesystem::path path_;
  bool is_new_;
  bool had_logs_;
  bool had_journal_;
};

}  // namespace tandem::cli
