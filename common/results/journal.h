// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "common/results/launch_record.h"
#include "common/results/sweep_info.h"

namespace tandem::results {

// What a journal holds. A pair of cell and launch may occur twice, where a failed launch was tried
// again: the later one counts, and is the only one here.
struct JournalContents {
  SweepInfo sweep;
  std::vector<LaunchRecord> launches;
  std::uintmax_t whole_bytes = 0;  // without a torn last line
};

// Reads a journal: one line that names the sweep, then one per finished launch. A last line
// without its newline was cut off by a crash and is dropped; a damaged line before it is an error.
// Nothing where the file does not exist or a crash cut off its very first line.
[[nodiscard]] std::optional<JournalContents> read_journal(const std::filesystem::path& path);

// The same of a text; `source` is for errors.
[[nodiscard]] std::optional<JournalContents> read_journal(std::istream& text,
                                                          const std::string& source);

// Appends to a journal; one process at a time. Each line is on the disk when append() returns.
class Journal {
 public:
  // Opens or begins the journal and cuts off a torn last line. Throws a usage error where another
  // process is writing into it.
  Journal(const std::filesystem::path& path, const SweepInfo& sweep);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // As found when it was opened; without what was appended since.
  [[nodiscard]] const JournalContents& found() const { return found_; }

  void append(const LaunchRecord& record);

  // Plans these cells beside the sweep's own, before anything is appended: the first line is
  // written anew, the others stay as they are. A crash leaves the old journal or the new one.
  void plan(const std::vector<Addition>& additions);

  // Undoes whatever was written since it was opened.
  void put_back();

 private:
  void open();
  void replace(const std::string& text);
  void append_line(const std::string& line);

  std::filesystem::path path_;
  int descriptor_ = -1;
  JournalContents found_;
  std::optional<std::string> before_plan_;  // the whole text
};

}  // namespace tandem::results
