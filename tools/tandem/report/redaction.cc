// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/report/redaction.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "common/json/parse.h"
#include "common/json/writer.h"

namespace tandem::cli {
namespace {

constexpr const char* kRemoved = "[removed]";
constexpr std::string_view kEndsOfWords = " \t\r\n,;:=()[]{}\"'<>|`";

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }
bool is_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z');
}

// "all-reduce", "CUDA_ERROR_OUT_OF_MEMORY".
bool is_of_letters(std::string_view word) {
  return std::ranges::all_of(
      word, [](char letter) { return is_letter(letter) || letter == '-' || letter == '_'; });
}

// "500ms", "6.2", "13.0.2", "2.28.3-1"; an address has three dots, a checksum other letters.
bool is_number(std::string_view word) {
  constexpr std::ptrdiff_t kMostDots = 2;
  constexpr std::size_t kLongestUnit = 4;
  const std::size_t end = std::min(word.find_first_not_of("0123456789.-"), word.size());
  const std::string_view number = word.substr(0, end);
  return end > 0 && is_digit(word.front()) && std::ranges::count(number, '.') <= kMostDots &&
         word.size() - end <= kLongestUnit &&
         std::ranges::none_of(word.substr(end),
                              [](char letter) { return !is_letter(letter) && letter != '%'; });
}

bool is_harmless(std::string_view word) {
  const std::size_t begin = std::min(word.find_first_not_of('-'), word.size());
  word.remove_prefix(begin);  // an option
  if (word.ends_with('.')) word.remove_suffix(1);
  return is_of_letters(word) || is_number(word);
}

// Takes out of a document what is not known to be harmless.
class Redaction {
 public:
  explicit Redaction(const results::Document& document) {
    for (const results::LaunchRecord& record : document.launches) {
      add_host(record.machine.host_name);
      for (const std::string& host : record.machine.hosts) add_host(host);
      const std::string& job = record.machine.slurm_job;  // "4711, step 0, partition gpu"
      const std::string number = job.substr(0, job.find_first_not_of("0123456789"));
      if (!number.empty()) secrets_.insert(number);
    }
    add_host(document.sweep.context.host_name);
  }

  void change(results::SweepInfo& sweep) {
    sweep.definition.clear();
    for (results::DroppedCells& dropped : sweep.dropped) {
      change_text(dropped.reason);
      for (std::string& name : dropped.cells) change_name(name);
    }
    for (results::Addition& addition : sweep.additions) {
      for (std::string& name : addition.cells) change_name(name);
    }
    change_host(sweep.context.host_name);
    change_word(sweep.context.executable);
    for (auto& [name, value] : sweep.context.custom) change_fact(value);
    for (auto& command : sweep.commands) {
      for (std::string& word : command) change_word(word);
    }
    if (sweep.links) change_text(sweep.links->reason);
    if (!sweep.against) return;
    change_word(sweep.against->build);
    for (std::string& variable : sweep.against->variables) change_word(variable);
  }

  void change(results::LaunchRecord& record) {
    change_text(record.reason);
    change_text(record.stderr_tail);
    for (std::string& warning : record.warnings) change_text(warning);
    change(record.cell);
    change(record.machine);
    for (results::GpuRecord& gpu : record.gpus) {
      if (gpu.hardware != gpu.pci) ++removed_["serial"];
      gpu.hardware = gpu.pci;
    }
  }

  // Keeps an entry's figures, and of its texts the names that programs give.
  void change(results::OtherEntry& entry) {
    constexpr std::array<std::string_view, 5> kKept{"name", "run_name", "run_type", "time_unit",
                                                    "tandem_source"};
    const JsonDocument json(JsonAuthor::kProgram, entry.json, entry.source);
    std::string line;
    JsonWriter writer(line);
    writer.open("", '{');
    for (const JsonValue member : json.root()) {
      const bool is_named = std::ranges::find(kKept, member.key()) != kKept.end();
      if (is_named || member.is_number() || member.kind() == JsonKind::kBoolean) {
        writer.copy(member.key(), member);
      } else if (member.is_text()) {
        std::string text(member.text());
        change_text(text);
        writer.value(member.key(), text);
      }
    }
    writer.close();
    entry.json = std::move(line);
  }

  [[nodiscard]] Removed take_removed() { return std::move(removed_); }

 private:
  void add_host(const std::string& host) {
    if (host.empty() || std::ranges::find(hosts_, host) != hosts_.end()) return;
    hosts_.push_back(host);
    secrets_.insert(host);
    secrets_.insert(host.substr(0, host.find('.')));  // without its domain
  }

  void change_host(std::string& host) {
    const auto place = std::ranges::find(hosts_, host);
    if (place == hosts_.end()) return;
    host = fmt::format("host{}", place - hosts_.begin() + 1);
    ++removed_["host name"];
  }

  void change_text(std::string& text) { text = harmless_words(text, secrets_, removed_); }

  // A word of a command, or NAME=VALUE: a path goes whole, since its folders may have blanks.
  void change_word(std::string& word) {
    const std::size_t slash = word.find('/');
    if (slash == std::string::npos) return change_text(word);
    const std::size_t equals = word.rfind('=', slash);
    word = word.substr(0, equals == std::string::npos ? 0 : equals + 1) + kRemoved;
    ++removed_["word"];
  }

  // What Tandem itself says of a machine is kept, but for paths.
  void change_fact(std::string& fact) {
    if (fact.find('/') != std::string::npos) change_text(fact);
  }

  // A cell's name, of which the values of all options but --gpus are Tandem's own.
  static void change_name(std::string& name) {
    constexpr std::string_view kGpus = "/gpus:";
    const std::size_t begin = name.find(kGpus);
    if (begin == std::string::npos) return;
    const std::size_t end = name.find('/', begin + kGpus.size());
    name.replace(begin + kGpus.size(), std::min(end, name.size()) - begin - kGpus.size(), kRemoved);
  }

  void change(results::Cell& cell) {
    cell.model.erase(0, cell.model.rfind('/') + 1);
    const auto gpus = cell.options.find("gpus");
    if (gpus != cell.options.end()) change_text(gpus->second);
  }

  void change(results::MachineFacts& machine) {
    change_host(machine.host_name);
    for (std::string& host : machine.hosts) change_host(host);
    for (auto& [name, value] : machine.libraries) change_fact(value);
    for (auto& [name, value] : machine.variables) change_word(value);
    if (machine.slurm_job.empty()) return;
    machine.slurm_job = "a job";
    ++removed_["Slurm job"];
  }

  std::vector<std::string> hosts_;
  std::set<std::string, std::less<>> secrets_;
  Removed removed_;
};

}  // namespace

std::string harmless_words(std::string_view text, const std::set<std::string, std::less<>>& secrets,
                           Removed& removed) {
  std::string kept;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(kEndsOfWords), text.size());
    const std::string_view word = text.substr(0, end);
    const std::string_view bare = word.ends_with('.') ? word.substr(0, end - 1) : word;
    const bool is_kept = is_harmless(word) && !secrets.contains(bare);
    kept += is_kept ? word : kRemoved;
    removed["word"] += is_kept ? 0 : 1;
    if (end < text.size()) kept += text[end];
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return kept;
}

bool is_redacted(const results::Document& document) {
  return document.sweep.context.custom.contains(kRemovedFact);
}

Redacted redacted(results::Document document) {
  Redaction redaction(document);
  redaction.change(document.sweep);
  for (results::LaunchRecord& record : document.launches) redaction.change(record);
  for (results::OtherEntry& entry : document.others) redaction.change(entry);
  Redacted result;
  result.removed = redaction.take_removed();
  std::erase_if(result.removed, [](const auto& kind) { return kind.second == 0; });
  document.sweep.context.custom[kRemovedFact] = words_of(result.removed);
  result.text = results::to_json_text(document);
  return result;
}

std::string words_of(const Removed& removed) {
  std::vector<std::string> parts;
  for (const auto& [kind, count] : removed) parts.push_back(count_text(count, kind));
  return parts.empty() ? "nothing" : fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace tandem::cli
