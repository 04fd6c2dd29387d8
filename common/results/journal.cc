// SPDX-License-Identifier: Apache-2.0
#include "common/results/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "common/base/error.h"
#include "common/results/files.h"
#include "common/results/record_text.h"
#include "common/results/schema.h"
#include "common/results/sweep_json.h"

namespace tandem::results {
namespace {

std::string header_line(const SweepInfo& sweep) {
  return dump(Json{{"tandem_journal", kSchemaVersion},
                   {"sweep", to_json(sweep)},
                   {"context", to_json(sweep.context)}});
}

SweepInfo header_from(const Json& json, const std::string& source) {
  check_schema_version(value_or(json, "tandem_journal", std::string{}), source);
  SweepInfo sweep = sweep_from(value_or(json, "sweep", Json::object()));
  sweep.context = context_from(value_or(json, "context", Json::object()));
  return sweep;
}

SweepInfo parse_header(std::string_view line, const std::string& source) {
  const Json json = parse_json(line, source);
  return reading(source, "a journal", [&] { return header_from(json, source); });
}

// Where the launch of a cell stands. By name, for a launch that failed does not know which back end
// `auto` would have come to.
using Places = std::map<std::pair<std::string, int>, std::size_t>;

void add_or_replace(std::vector<LaunchRecord>& launches, Places& places, LaunchRecord record) {
  const auto [place, is_new] =
      places.try_emplace({record.cell.name(), record.launch_index}, launches.size());
  if (is_new) {
    launches.push_back(std::move(record));
  } else {
    launches[place->second] = std::move(record);
  }
}

}  // namespace

std::optional<JournalContents> read_journal(std::istream& text, const std::string& source) {
  JournalContents contents;
  Places places;
  int number = 0;
  for (std::string line; std::getline(text, line) && !text.eof();) {
    const std::string place = fmt::format("{}, line {}", source, ++number);
    if (number == 1) {
      contents.sweep = parse_header(line, place);
    } else {
      add_or_replace(contents.launches, places, parse_record(line, place));
    }
    contents.whole_bytes += line.size() + 1;
  }
  if (contents.whole_bytes == 0) return std::nullopt;
  return contents;
}

std::optional<JournalContents> read_journal(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  std::ifstream file(path, std::ios::binary);
  if (!file.is_open()) {
    fail(ErrorKind::kFailure, "reading {}: it cannot be opened; check its rights", path.string());
  }
  return read_journal(file, path.string());
}

Journal::Journal(const std::filesystem::path& path, const SweepInfo& sweep) : path_(path) {
  open();
  try {
    std::optional<JournalContents> contents = read_journal(path);
    if (::ftruncate(descriptor_, contents ? static_cast<off_t>(contents->whole_bytes) : 0) != 0) {
      fail(ErrorKind::kFailure, "cutting off the torn end of {}: {}", path.string(),
           std::strerror(errno));
    }
    if (contents) {
      found_ = *std::move(contents);
    } else {
      append_line(header_line(sweep));
      found_.sweep = sweep;
    }
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

Journal::~Journal() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Journal::append(const LaunchRecord& record) { append_line(to_json_line(record)); }

void Journal::plan(const std::vector<Addition>& additions) {
  before_plan_ = read_file(path_);
  found_.sweep.additions = additions;
  replace(header_line(found_.sweep) + before_plan_->substr(before_plan_->find('\n')));
}

void Journal::put_back() {
  if (before_plan_) {
    replace(*before_plan_);
  } else if (::ftruncate(descriptor_, static_cast<off_t>(found_.whole_bytes)) != 0) {
    fail(ErrorKind::kFailure, "cutting {} back: {}", path_.string(), std::strerror(errno));
  }
}

void Journal::replace(const std::string& text) {
  replace_file(path_, text);
  ::close(std::exchange(descriptor_, -1));  // of the file that was replaced
  open();
}

// Leaves no descriptor open where it throws.
void Journal::open() {
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
  if (::fsync(descriptor_) != 0) {
    fail(ErrorKind::kFailure, "syncing {}: {}", path_.string(), std::strerror(errno));
  }
}

}  // namespace tandem::results
