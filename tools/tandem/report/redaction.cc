// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/report/redaction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <set>
#include <utility>
#include <vector>

#include "common/base/text.h"

namespace tandem::cli {
namespace {

constexpr const char* kHosts = "host name";
constexpr const char* kAddresses = "address";
constexpr const char* kFolders = "folder";
constexpr const char* kSerials = "serial";
constexpr const char* kJobs = "Slurm job";

bool is_word(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '-';
}

bool is_hex(char letter) { return std::isxdigit(static_cast<unsigned char>(letter)) != 0; }

// The end of the run of characters from `begin` for which `belongs` holds.
template <class Belongs>
std::size_t end_of(std::string_view text, std::size_t begin, Belongs belongs) {
  while (begin < text.size() && belongs(text[begin])) ++begin;
  return begin;
}

// A letter behind a backslash is an escape of JSON.
bool is_behind_escape(std::string_view text, std::size_t place) {
  return place >= 2 && text[place - 2] == '\\';
}

// Whether a path may begin here: not within a word, a path, an address of the web or a quotient.
bool begins_path(std::string_view text, std::size_t place) {
  if (place == 0 || is_behind_escape(text, place)) return true;
  const std::string_view before = text.substr(0, place);
  if (before.ends_with("file://")) return true;
  const bool is_option = place >= 2 && before[place - 2] == '-' &&  // -I/opt/include
                         (place == 2 || !is_word(before[place - 3]));
  if (is_option && !is_word(text[place])) return true;
  return !is_word(before.back()) && std::string_view("/)]}.~").find(before.back()) == text.npos;
}

bool is_in_path(char letter) {
  return std::string_view(" \"'\\:,;)]}<>`|").find(letter) == std::string_view::npos;
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

// Whether a name is a file's by its extension. Any other may be a user's.
bool is_file(std::string_view name) {
  name = name.substr(0, name.find(':'));  // own.py:build
  if (name.find(".so.") != name.npos) return true;
  constexpr std::array kExtensions = {".py",  ".json", ".jsonl", ".csv",
                                      ".txt", ".log",  ".xml",   ".so"};
  return std::ranges::any_of(kExtensions, [&](const char* end) { return name.ends_with(end); });
}

std::string hidden(std::string_view path, Removed& removed) {
  ++removed[kFolders];
  const std::string_view last = last_part(path);
  return is_file(last) ? fmt::format("[folder]/{}", last) : "[folder]";
}

// The end of a path at this place, the place itself where there is none: absolute, of a home or of
// "." and "..", or with a slash and a file's name. Cells' names have slashes, too.
std::size_t end_of_path(std::string_view text, std::size_t place) {
  if (!begins_path(text, place)) return place;
  const std::size_t end = end_of(text, place, is_in_path);
  const std::string_view path = text.substr(place, end - place);
  const std::size_t slash = path.find('/');
  if (slash == path.npos) return place;
  const bool is_rooted = path[0] == '~' || path.find_first_not_of('.') == slash;
  if (!is_rooted) {
    const bool is_one = is_word(path[0]) && path.find('=') == path.npos && is_file(last_part(path));
    return is_one ? end : place;
  }
  const bool has_name = slash + 1 < path.size() &&
                        std::string_view("/=*").find(path[slash + 1]) == std::string_view::npos;
  return has_name ? end : place;
}

// A word of a command, or a variable's value: all of it behind "=" is a path where it has a slash,
// so that blanks in names of folders leave nothing.
void hide_folders_of(std::string& word, Removed& removed) {
  const std::size_t slash = word.find('/');
  if (slash == std::string::npos) return;
  const std::size_t equals = word.rfind('=', slash);
  const std::size_t begin = equals == std::string::npos ? 0 : equals + 1;
  word = word.substr(0, begin) + hidden(std::string_view(word).substr(begin), removed);
}

// The end of "GPU-" or "MIG-" with a UUID behind it.
std::size_t end_of_serial(std::string_view text, std::size_t place) {
  constexpr std::size_t kPrefix = 4;
  constexpr std::size_t kLeast = 8;  // hexadecimal digits of a UUID's first group
  const std::string_view prefix = text.substr(place, kPrefix);
  if (prefix != "GPU-" && prefix != "MIG-") return place;
  const std::size_t end = end_of(text, place + kPrefix, is_hex);
  if (end < place + kPrefix + kLeast) return place;
  return end_of(text, end, [](char letter) { return is_hex(letter) || letter == '-'; });
}

// The end of four numbers with dots between them.
std::size_t end_of_address(std::string_view text, std::size_t place) {
  std::size_t end = place;
  for (int part = 0; part < 4; ++part) {
    if (part > 0 && (end == text.size() || text[end++] != '.')) return place;
    const std::size_t begin = end;
    end = end_of(text, begin, [](char letter) { return letter >= '0' && letter <= '9'; });
    if (end == begin || end > begin + 3) return place;
  }
  return end;
}

// The end of an address of IPv6, with its zone: eight groups, or fewer around "::".
std::size_t end_of_long_address(std::string_view text, std::size_t place) {
  std::size_t end =
      end_of(text, place, [](char letter) { return is_hex(letter) || letter == ':'; });
  const std::string_view groups = text.substr(place, end - place);
  const bool is_whole = groups.find("::") != groups.npos || std::ranges::count(groups, ':') == 7;
  if (!is_whole || groups.back() == ':') return place;
  if (end < text.size() && text[end] == '.') {  // ::ffff:10.0.0.1
    end = std::max(end, end_of_address(text, place + groups.rfind(':') + 1));
  }
  if (end < text.size() && text[end] == '%') return end_of(text, end + 1, is_word);
  return end < text.size() && is_word(text[end]) ? place : end;
}

std::size_t end_of_any_address(std::string_view text, std::size_t place) {
  return std::max(end_of_address(text, place), end_of_long_address(text, place));
}

// The names that a command's --hosts gives: HOST:COUNT,...
std::vector<std::string> hosts_of(const std::vector<std::string>& command) {
  constexpr std::string_view kOption = "--hosts";
  std::vector<std::string> hosts;
  for (std::size_t i = 0; i < command.size(); ++i) {
    std::string_view list;
    if (command[i] == kOption && i + 1 < command.size()) list = command[i + 1];
    if (command[i].starts_with("--hosts=")) list = std::string_view(command[i]).substr(8);
    for (const std::string_view host : split(list, ',')) {
      const bool is_address = host.starts_with('[');  // [fe80::1]:8
      if (!is_address) hosts.emplace_back(host.substr(0, host.find(':')));
    }
  }
  return hosts;
}

// The first parts of the names of all hosts, in the order in which they come up: domains are taken
// out with what they follow.
std::vector<std::string> hosts_of(const results::Document& document) {
  std::vector<std::string> hosts;
  const auto add = [&](const std::string& host) {
    if (host == "localhost" || end_of_any_address(host, 0) != 0) return;
    const std::string first = host.substr(0, host.find('.'));
    const bool is_known = std::ranges::find(hosts, first) != hosts.end();
    if (!first.empty() && !is_known) hosts.push_back(first);
  };
  for (const results::LaunchRecord& record : document.launches) {
    add(record.machine.host_name);
    for (const std::string& host : record.machine.hosts) add(host);
  }
  add(document.sweep.context.host_name);
  for (const auto& command : document.sweep.commands) {
    for (const std::string& host : hosts_of(command)) add(host);
  }
  return hosts;
}

// The end of ".cluster.example.edu" at this place.
std::size_t end_of_domain(std::string_view text, std::size_t place) {
  while (place + 1 < text.size() && text[place] == '.' && is_word(text[place + 1])) {
    place = end_of(text, place + 1, is_word);
  }
  return place;
}

// Takes names and addresses of hosts out of texts.
class Hosts {
 public:
  Hosts(std::vector<std::string> names, Removed& removed)
      : names_(std::move(names)), removed_(removed) {}

  void take_out_of(std::string& text) {
    std::string kept;
    for (std::size_t place = 0; place < text.size();) {
      const bool begins = place == 0 || !is_word(text[place - 1]) || is_behind_escape(text, place);
      const std::size_t end = begins ? take(text, place, kept) : place;
      if (end == place) kept += text[place];
      place = std::max(end, place + 1);
    }
    text = std::move(kept);
  }

 private:
  // The end of what is a name or an address at this place, for which `kept` gets another word.
  std::size_t take(const std::string& text, std::size_t place, std::string& kept) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const std::size_t end = place + names_[i].size();
      if (!std::string_view(text).substr(place).starts_with(names_[i])) continue;
      if (end < text.size() && is_word(text[end])) continue;
      kept += fmt::format("host{}", i + 1);
      ++removed_[kHosts];
      return end_of_domain(text, end);
    }
    const std::size_t end = end_of_any_address(text, place);
    if (end != place) {
      kept += "[address]";
      ++removed_[kAddresses];
    }
    return end;
  }

  std::vector<std::string> names_;
  Removed& removed_;
};

// A job's number is a word also in "slurm-4711.out".
void take_job_out_of(std::string& text, std::string_view number, Removed& removed) {
  const auto is_apart = [&](std::size_t place) {
    return place >= text.size() || std::isalnum(static_cast<unsigned char>(text[place])) == 0;
  };
  std::size_t place = text.find(number);
  for (; place != std::string::npos; place = text.find(number, place + 1)) {
    if (place > 0 && !is_apart(place - 1)) continue;
    if (!is_apart(place + number.size())) continue;
    text.replace(place, number.size(), "[job]");
    ++removed[kJobs];
  }
}

// The numbers of all Slurm jobs: each "4711, step 0, partition gpu" begins with one.
std::set<std::string> jobs_of(const results::Document& document) {
  std::set<std::string> jobs;
  for (const results::LaunchRecord& record : document.launches) {
    const std::string& job = record.machine.slurm_job;
    const std::string number = job.substr(0, job.find_first_not_of("0123456789"));
    if (!number.empty()) jobs.insert(number);
  }
  return jobs;
}

// The texts that programs and users wrote, without the definition and others' entries: a number
// there is a figure.
template <class Change>
void for_each_text(results::Document& document, Change change) {
  for (auto& command : document.sweep.commands) {
    for (std::string& word : command) change(word);
  }
  if (document.sweep.links) change(document.sweep.links->reason);
  if (document.sweep.against) {
    change(document.sweep.against->build);
    for (std::string& variable : document.sweep.against->variables) change(variable);
  }
  for (results::LaunchRecord& record : document.launches) {
    change(record.reason);
    change(record.stderr_tail);
    for (std::string& warning : record.warnings) change(warning);
    for (auto& [name, value] : record.machine.variables) change(value);
  }
}

void take_hosts_out_of(results::Document& document, Removed& removed) {
  Hosts hosts(hosts_of(document), removed);
  for_each_text(document, [&](std::string& text) { hosts.take_out_of(text); });
  hosts.take_out_of(document.sweep.context.host_name);
  hosts.take_out_of(document.sweep.definition);
  for (results::LaunchRecord& record : document.launches) {
    hosts.take_out_of(record.machine.host_name);
    for (std::string& host : record.machine.hosts) hosts.take_out_of(host);
  }
  for (results::OtherEntry& entry : document.others) hosts.take_out_of(entry.json);
}

void take_jobs_out_of(results::Document& document, Removed& removed) {
  for (const std::string& number : jobs_of(document)) {
    for_each_text(document, [&](std::string& text) { take_job_out_of(text, number, removed); });
  }
  for (results::LaunchRecord& record : document.launches) {
    if (record.machine.slurm_job.empty()) continue;
    record.machine.slurm_job = "a job";
    ++removed[kJobs];
  }
}

void take_folders_out_of(results::Document& document, Removed& removed) {
  hide_folders_of(document.sweep.context.executable, removed);
  for (auto& command : document.sweep.commands) {
    for (std::string& word : command) hide_folders_of(word, removed);
  }
  if (document.sweep.against) {
    hide_folders_of(document.sweep.against->build, removed);
    for (std::string& variable : document.sweep.against->variables) {
      hide_folders_of(variable, removed);
    }
  }
  for (results::LaunchRecord& record : document.launches) {
    for (auto& [name, value] : record.machine.variables) hide_folders_of(value, removed);
  }
}

}  // namespace

std::string without_folders_and_serials(std::string_view text, Removed& removed) {
  std::string kept;
  for (std::size_t place = 0; place < text.size();) {
    if (const std::size_t end = end_of_path(text, place); end != place) {
      kept += hidden(text.substr(place, end - place), removed);
      place = end;
    } else if (const std::size_t serial = end_of_serial(text, place); serial != place) {
      kept += "[serial]";
      ++removed[kSerials];
      place = serial;
    } else {
      kept += text[place++];
    }
  }
  return kept;
}

bool is_redacted(const results::Document& document) {
  return document.sweep.context.custom.contains(kRemovedFact);
}

Redacted redacted(results::Document document) {
  Redacted result;
  take_hosts_out_of(document, result.removed);
  take_jobs_out_of(document, result.removed);
  take_folders_out_of(document, result.removed);
  // The list counts what the text loses, too.
  Removed all = result.removed;
  (void)without_folders_and_serials(results::to_json_text(document), all);
  document.sweep.context.custom[kRemovedFact] = words_of(all);
  result.text = without_folders_and_serials(results::to_json_text(document), result.removed);
  return result;
}

std::string words_of(const Removed& removed) {
  std::vector<std::string> parts;
  for (const auto& [kind, count] : removed) parts.push_back(count_text(count, kind));
  return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace tandem::cli
