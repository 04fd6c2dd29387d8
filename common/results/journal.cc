// SPDX-License-Identifier: Apache-2.0
#include "common/results/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>
#include <utility>

#include "common/base/error.h"
#include "common/json/parse.h"
#include "common/results/files.h"
#include "common/results/launch_record.h"
#include "common/results/record_fields.h"

namespace tandem::results {
namespace {

std::string header_line(const SweepInfo& sweep) {
  std::string line;
  JsonWriter writer(line);
  writer.open("", '{');
  writer.value("tandem_journal", kSchemaVersion);
  write_json(writer, "sweep", sweep);
  write_json(writer, "context", sweep.context);
  writer.close();
  return line;
}

SweepInfo header_from(const JsonValue& json) {
  check_schema_version(value_or(json, "tandem_journal", std::string{}), json.source());
  SweepInfo sweep = value_or(json, "sweep", SweepInfo{});
  sweep.context = value_or(json, "context", Context{});
  return sweep;
}

void add_or_replace(JournalContents& contents, LaunchPlaces& places, LaunchRecord record) {
  std::vector<LaunchRecord>& launches = contents.launches;
  const auto [place, is_new] =
      places.try_emplace({record.cell.name(), record.launch_index}, launches.size());
  if (is_new) {
    launches.push_back(std::move(record));
  } else {
    launches[place->second] = std::move(record);
  }
}

bool read_into(JournalContents& contents, LaunchPlaces& places, std::istream& text,
               const std::string& source) {
  JsonDocument json(JsonAuthor::kProgram);
  int number = 0;
  for (std::string line; std::getline(text, line) && !text.eof();) {
    json.read(line, fmt::format("{}, line {}", source, ++number));
    if (number == 1) {
      contents.sweep = header_from(json.root());
    } else {
      add_or_replace(contents, places, read_as<LaunchRecord>(json.root()));
    }
    contents.whole_bytes += line.size() + 1;
  }
  return contents.whole_bytes > 0;
}

bool read_into(JournalContents& contents, LaunchPlaces& places, const std::filesystem::path& path) {
  std::error_code unreadable;  // check_input() reports the error
  const auto type = std::filesystem::status(path, unreadable).type();
  if (type == std::filesystem::file_type::not_found) return false;
  check_input(results_file(path));
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) {
    fail(ErrorKind::kFailure, "reading {}: it cannot be opened; check its rights", path.string());
  }
  return read_into(contents, places, file, path.string());
}

// The content of `source`; nothing where no whole line is there.
template <class Source, class... Name>
std::optional<JournalContents> contents_of(Source& source, const Name&... name) {
  JournalContents contents;
  LaunchPlaces places;
  if (!read_into(contents, places, source, name...)) return std::nullopt;
  return contents;
}

}  // namespace

Document document_of(JournalContents contents) {
  return {.sweep = std::move(contents.sweep), .launches = std::move(contents.launches)};
}

std::optional<JournalContents> read_journal(std::istream& text, const std::string& source) {
  return contents_of(text, source);
}

std::optional<JournalContents> read_journal(const std::filesystem::path& path) {
  return contents_of(path);
}

Journal::Journal(const std::filesystem::path& path, const SweepInfo& sweep) : path_(path) {
  open();
  try {
    const bool is_begun = read_into(contents_, places_, path);
    opened_bytes_ = contents_.whole_bytes;
    if (::ftruncate(descriptor_, static_cast<off_t>(opened_bytes_)) != 0) {
      fail(ErrorKind::kFailure, "cutting off the torn end of {}: {}", path.string(),
           std::strerror(errno));
    }
    if (!is_begun) {
      append_line(header_line(sweep));
      contents_.sweep = sweep;
    }
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

// The journal keeps the record parsed from the line, not the given record, since bytes that are no
// UTF-8 are replaced in the line.
void Journal::append(const LaunchRecord& record) {
  const std::string line = to_json_line(record);
  append_line(line);
  add_or_replace(contents_, places_, parse_record(line, path_.string()));
}

void Journal::plan(const std::vector<Addition>& additions) {
  before_plan_ = read_file(path_);
  contents_.sweep.additions = additions;
  replace(header_line(contents_.sweep) + before_plan_->substr(before_plan_->find('\n')));
}

void Journal::note_looks(const Resolving& resolving) {
  contents_.sweep.resolving = resolving;
  replace_header();
}

void Journal::grow(const std::string& definition, int launches_per_cell) {
  contents_.sweep.definition = definition;
  contents_.sweep.launches_per_cell = launches_per_cell;
  replace_header();
}

void Journal::replace_header() {
  const std::string text = read_file(path_);
  replace(header_line(contents_.sweep) + text.substr(text.find('\n')));
}

void Journal::put_back() {
  if (before_plan_) {
    replace(*before_plan_);
  } else if (::ftruncate(descriptor_, static_cast<off_t>(opened_bytes_)) != 0) {
    fail(ErrorKind::kFailure, "cutting {} back: {}", path_.string(), std::strerror(errno));
  }
}

void Journal::replace(const std::string& text) {
  replace_file(path_, text);
  ::close(std::exchange(descriptor_, -1));  // the descriptor of the replaced file
  open();
}

// An exception leaves no descriptor open.
void Journal::open() {
  std::error_code unknown;
  if (std::filesystem::exists(path_, unknown)) check_input(results_file(path_));
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor_ < 0) {
    fail(ErrorKind::kUsage, "opening {}: {}; choose an --out that can be written to",
         path_.string(), std::strerror(errno));
  }
  if (::flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
  ::close(descriptor_);
  descriptor_ = -1;
  fail(ErrorKind::kUsage, "opening {}: another process is writing it; choose another --out",
       path_.string());
}

void Journal::append_line(const std::string& line) {
  write_all(descriptor_, line + "\n", path_);
  contents_.whole_bytes += line.size() + 1;
  if (::fsync(descriptor_) != 0) {
    fail(ErrorKind::kFailure, "syncing {}: {}", path_.string(), std::strerror(errno));
  }
}

}  // namespace tandem::results
