// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/report/redaction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
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

// Whether a path may begin here. A letter behind a backslash is an escape of JSON.
bool begins_word(std::string_view text, std::size_t place) {
  if (place == 0) return true;
  if (place >= 2 && text[place - 2] == '\\') return true;
  return std::string_view(" \"'=:,;([{<>@").find(text[place - 1]) != std::string_view::npos;
}

bool is_in_path(char letter) {
  return std::string_view(" \"'\\:,;)]}<>").find(letter) == std::string_view::npos;
}

// The end of an absolute path at this place; the place itself where there is none.
std::size_t end_of_path(std::string_view text, std::size_t place) {
  const bool begins = text[place] == '/' && begins_word(text, place) && place + 1 < text.size() &&
                      (is_word(text[place + 1]) || text[place + 1] == '.');
  return begins ? end_of(text, place, is_in_path) : place;
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

// The names of all hosts, in the order in which they come up.
std::vector<std::string> hosts_of(const results::Document& document) {
  std::vector<std::string> hosts;
  const auto add = [&](const std::string& host) {
    const bool is_known = std::ranges::find(hosts, host) != hosts.end();
    if (!host.empty() && !is_known) hosts.push_back(host);
  };
  for (const results::LaunchRecord& record : document.launches) {
    add(record.machine.host_name);
    for (const std::string& host : record.machine.hosts) add(host);
  }
  add(document.sweep.context.host_name);
  return hosts;
}

// Takes names and addresses of hosts out of texts.
class Hosts {
 public:
  Hosts(std::vector<std::string> names, Removed& removed)
      : names_(std::move(names)), removed_(removed) {}

  // A field that holds a name alone.
  void rename(std::string& host) {
    const auto known = std::ranges::find(names_, host);
    if (known == names_.end()) return;
    host = name_of(static_cast<std::size_t>(known - names_.begin()));
    ++removed_[kHosts];
  }

  // A text of words.
  void take_out_of(std::string& text) {
    std::string kept;
    for (std::size_t place = 0; place < text.size();) {
      const bool begins = place == 0 || !is_word(text[place - 1]);
      const std::size_t end = begins ? take(text, place, kept) : place;
      if (end == place) kept += text[place];
      place = std::max(end, place + 1);
    }
    text = std::move(kept);
  }

 private:
  static std::string name_of(std::size_t place) { return fmt::format("host{}", place + 1); }

  // The end of what is a name or an address at this place, for which `kept` gets another word.
  std::size_t take(const std::string& text, std::size_t place, std::string& kept) {
    for (std::size_t i = 0; i < names_.size(); ++i) {
      const std::size_t end = place + names_[i].size();
      if (!std::string_view(text).substr(place).starts_with(names_[i])) continue;
      if (end < text.size() && is_word(text[end])) continue;
      kept += name_of(i);
      ++removed_[kHosts];
      return end;
    }
    const std::size_t end = end_of_address(text, place);
    if (end != place) {
      kept += "[address]";
      ++removed_[kAddresses];
    }
    return end;
  }

  std::vector<std::string> names_;
  Removed& removed_;
};

void take_hosts_out_of(results::Document& document, Removed& removed) {
  Hosts hosts(hosts_of(document), removed);
  hosts.rename(document.sweep.context.host_name);
  hosts.take_out_of(document.sweep.definition);
  for (auto& command : document.sweep.commands) {
    for (std::string& word : command) hosts.take_out_of(word);
  }
  if (document.sweep.links) hosts.take_out_of(document.sweep.links->reason);
  for (results::LaunchRecord& record : document.launches) {
    hosts.rename(record.machine.host_name);
    for (std::string& host : record.machine.hosts) hosts.rename(host);
    hosts.take_out_of(record.reason);
    hosts.take_out_of(record.stderr_tail);
    for (std::string& warning : record.warnings) hosts.take_out_of(warning);
    for (auto& [name, value] : record.machine.variables) hosts.take_out_of(value);
    if (record.machine.slurm_job.empty()) continue;
    record.machine.slurm_job = "a job";
    ++removed[kJobs];
  }
  for (results::OtherEntry& entry : document.others) hosts.take_out_of(entry.json);
}

}  // namespace

std::string without_folders_and_serials(std::string_view text, Removed& removed) {
  std::string kept;
  for (std::size_t place = 0; place < text.size();) {
    if (const std::size_t end = end_of_path(text, place); end != place) {
      const std::string_view path = text.substr(place, end - place);
      const std::string_view last = path.substr(path.rfind('/') + 1);
      kept += last.size() + 1 == path.size() ? "[folder]" : fmt::format("[folder]/{}", last);
      ++removed[kFolders];
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

Redacted redacted(results::Document document) {
  Redacted result;
  take_hosts_out_of(document, result.removed);
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
