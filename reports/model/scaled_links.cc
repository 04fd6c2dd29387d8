// SPDX-License-Identifier: Apache-2.0
#include "reports/model/scaled_links.h"

#include <fmt/format.h>

#include <map>
#include <set>

#include "reports/format.h"

namespace tandem::reports {
namespace {

using results::LaunchRecord;

// The preset in the cell's options, "pcie4@a100-fp32"; empty for a literal link and without a link.
std::string preset_of(const LaunchRecord& record) {
  const auto link = record.cell.options.find("link");
  const bool is_preset =
      link != record.cell.options.end() && link->second.find('@') != std::string::npos;
  return is_preset && record.status == results::Status::kOk ? link->second : "";
}

// The launch's notice "link pcie4@a100-fp32 (scaled: K = 217; ...)"; empty where the launch has
// none.
std::string notice_of(const LaunchRecord& record) {
  for (const std::string& text : record.modelled) {
    if (text.starts_with("link ")) return text;
  }
  return "";
}

std::string in_one_line(const std::set<std::string>& notices) {
  const std::string first = "modelled: " + *notices.begin();
  if (notices.size() == 1) return first;
  return fmt::format("{}, and in other launches {} more", first,
                     count_text(std::ssize(notices) - 1, "scaling"));
}

}  // namespace

std::vector<std::string> scaled_link_notes(const results::Document& document) {
  std::map<std::string, std::set<std::string>> notices;  // by preset
  std::set<double> speeds;                               // speeds of one core
  for (const LaunchRecord& record : document.launches) {
    const std::string preset = preset_of(record);
    if (preset.empty()) continue;
    speeds.insert(record.core_gflops);
    const std::string notice = notice_of(record);
    if (!notice.empty()) notices[preset].insert(notice);
  }
  std::vector<std::string> lines;
  bool disagree = speeds.size() > 1;
  for (const auto& [preset, texts] : notices) {
    lines.push_back(in_one_line(texts));
    disagree = disagree || texts.size() > 1;
  }
  if (disagree) {
    lines.emplace_back(
        "modelled links disagree: launches were scaled to different speeds of a core, so their "
        "links differ and their figures should not be compared; measure them anew in one folder");
  }
  return lines;
}

}  // namespace tandem::reports
