// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <utility>
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

// Where in them the launch of a cell stands. By name, for a launch that failed does not know which
// back end `auto` would have come to.
using LaunchPlaces = std::map<std::pair<std::string, int>, std::size_t>;

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

  // As a reader would have it: what was found when it was opened, and what was appended since.
  [[nodiscard]] const JournalContents& contents() const { return contents_; }

  // The same, without a copy; nothing is appended any more.
  [[nodiscard]] JournalContents take_contents() { return std::move(contents_); }

  void append(const LaunchRecord& record);

  // Plans these cells beside the sweep's own, before anything is appended: the first line is
  // written anew, the others stay as they are. A crash leaves the old journal or the new one.
  void plan(const std::vector<Addition>& additions);

  // Writes the first line anew with these, as plan() does. Not after it, nor beside put_back().
  void note_links(const LinkMatrix& links);

  // Undoes whatever was written since it was opened; contents() are of no use then.
  void put_back();

 private:
  void open();
  void replace(const std::string& text);
  void append_line(const std::string& line);

  std::filesystem::path path_;
  int descriptor_ = -1;
  JournalContents contents_;
  LaunchPlaces places_;
  std::uintmax_t opened_bytes_ = 0;
  std::optional<std::string> before_plan_;  // the whole text
};

}  // namespace tandem::results
