// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/results/document.h"
#include "common/results/launch_record.h"

namespace tandem::results {

// The content of a journal. A pair of cell and launch may occur twice, where a failed launch was
// tried again: the later record counts, and only that record is here.
struct JournalContents {
  SweepInfo sweep;
  std::vector<LaunchRecord> launches;
  std::uintmax_t whole_bytes = 0;  // bytes without a torn last line
};

// The journal as a document.
[[nodiscard]] Document document_of(JournalContents contents);

// The place of a cell's launch among the contents' launches. The key is the cell's name, since a
// launch that failed does not know which back end `auto` would have become.
using LaunchPlaces = std::map<std::pair<std::string, int>, std::size_t>;

// Reads a journal: one line that names the sweep, then one per finished launch. A last line without
// its newline was cut off by a crash and is dropped; a damaged line before the last one is an
// error. Nothing where the file does not exist or a crash cut off its first line.
[[nodiscard]] std::optional<JournalContents> read_journal(const std::filesystem::path& path);

// Reads a journal from a text; `source` is for errors.
[[nodiscard]] std::optional<JournalContents> read_journal(std::istream& text,
                                                          const std::string& source);

// Appends to a journal; one process at a time. Each line is on the disk when append() returns.
class Journal : boost::noncopyable {
 public:
  // Opens or begins the journal and cuts off a torn last line. Throws a usage error where another
  // process is writing into it.
  Journal(const std::filesystem::path& path, const SweepInfo& sweep);
  ~Journal();

  // The content as a reader would find it: the records found at opening and the records appended
  // since.
  [[nodiscard]] const JournalContents& contents() const { return contents_; }

  // Moves the content out without a copy; no record may be appended afterwards.
  [[nodiscard]] JournalContents take_contents() { return std::move(contents_); }

  void append(const LaunchRecord& record);

  // Plans these cells beside the sweep's own, before any record is appended: the first line is
  // replaced, the other lines stay. A crash leaves the old journal or the new one.
  void plan(const std::vector<Addition>& additions);

  // Replaces the first line by one with these looks, as plan() does. Not allowed after plan() or
  // together with put_back().
  void note_looks(const Resolving& resolving);

  // Replaces the first line by one with this definition and number of launches per cell, as
  // note_looks() does.
  void grow(const std::string& definition, int launches_per_cell);

  // Undoes every change since the journal was opened; contents() may not be used afterwards.
  void put_back();

 private:
  void open();
  void replace(const std::string& text);
  void replace_header();
  void append_line(const std::string& line);

  std::filesystem::path path_;
  int descriptor_ = -1;
  JournalContents contents_;
  LaunchPlaces places_;
  std::uintmax_t opened_bytes_ = 0;
  std::optional<std::string> before_plan_;  // the journal's whole text before plan()
};

}  // namespace tandem::results
