// SPDX-License-Identifier: Apache-2.0
#include "reports/tables/trust.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "common/base/text.h"
#include "common/base/units.h"
#include "reports/text/format.h"

namespace tandem::reports {
namespace {

constexpr double kRemainderBar = 0.02;  // remainder above which a cell is flagged

std::string command_text(const std::vector<std::string>& words) {
  std::string text = "tandem";
  for (const std::string& word : words) text += fmt::format(" {}", shell_word(word));
  return text + " --out again";
}

}  // namespace

std::string remainder_line(const Summary& summary) {
  int timed = 0;
  int flagged = 0;
  double most = 0;
  for (const CellSummary& cell : summary.cells) {
    if (cell.phases.empty()) continue;
    ++timed;
    const double share = std::abs(cell.remainder_share());
    most = std::max(most, share);
    if (share > kRemainderBar) ++flagged;
  }
  if (timed == 0) return "Phases were not timed: nothing tells where the steps go.";
  return fmt::format(
      "The books: of {} with phases, {} have more than {:.0f} % of the step in no phase; at most "
      "{:.1f} %.",
      count_text(timed, "cell"), flagged, 100 * kRemainderBar, 100 * most);
}

std::vector<std::string> dropped_lines(const results::SweepInfo& sweep) {
  std::vector<std::string> lines;
  for (const results::DroppedCells& dropped : sweep.dropped) {
    lines.push_back(fmt::format("not measured: {}: {}",
                                count_text(std::ssize(dropped.cells), "cell"), dropped.reason));
  }
  return lines;
}

TextTable failures_table(const Summary& summary) {
  TextTable table({"cell", "outcome", "reason"});
  for (const CellSummary& cell : summary.cells) {
    if (cell.launches > 0) continue;
    table.rows.push_back({cell.cell.name(), std::string(to_string(cell.status)), cell.reason});
  }
  return table;
}

std::vector<std::string> reproduce_commands(const results::SweepInfo& sweep) {
  std::vector<std::string> lines;
  for (const auto& command : sweep.commands) lines.push_back(command_text(command));
  if (lines.empty()) lines.emplace_back("# the command was not recorded");
  if (!sweep.additions.empty()) {
    lines.emplace_back("# and what tandem explain added to this folder, by the command given then");
  }
  lines.emplace_back("tandem compare results.json again");
  return lines;
}

namespace {

using results::Link;
using results::LinkMatrix;

std::vector<std::string> row_of(const results::OtherEntry& entry) {
  if (const std::string error = entry.error(); !error.empty()) {
    return {entry.source, entry.name(), "", error};
  }
  std::string time;
  std::vector<std::string> figures;
  for (const auto& [name, value] : entry.figures()) {
    if (name == "real_time") {
      time = fmt::format("{:.4g} {}", value, entry.time_unit());
    } else {
      figures.push_back(fmt::format("{} {:.4g}", name, value));
    }
  }
  return {entry.source, entry.name(), time, join(figures, ", ")};
}

std::vector<std::string> ends_of(const LinkMatrix& links, std::string Link::*end) {
  std::vector<std::string> names;
  for (const Link& link : links.links) {
    if (std::ranges::find(names, link.*end) == names.end()) {
      names.push_back(link.*end);
    }
  }
  return names;
}

std::string figures_of(const LinkMatrix& links, const std::string& from, const std::string& to) {
  const auto link = std::ranges::find_if(
      links.links, [&](const Link& one) { return one.from == from && one.to == to; });
  if (link == links.links.end()) return "-";
  std::string text =
      link->gigabytes_per_second ? fmt::format("{:.1f}", *link->gigabytes_per_second) : "-";
  if (link->latency_us) text += fmt::format(" ({:.1f} us)", *link->latency_us);
  return text;
}

bool is_of_host(const LinkMatrix& links) {
  return std::ranges::any_of(links.links,
                             [](const Link& link) { return link.from.starts_with("host:"); });
}

}  // namespace

TextTable other_figures_table(const results::Document& document) {
  TextTable table({"measured by", "entry", ">time", "figures"});
  for (const results::OtherEntry& entry : document.others) table.rows.push_back(row_of(entry));
  return table;
}

TextTable link_table(const LinkMatrix& links) {
  TextTable table({"from \\ to"});
  const std::vector<std::string> targets = ends_of(links, &Link::to);
  for (const std::string& to : targets) table.add_columns({">" + to});
  for (const std::string& from : ends_of(links, &Link::from)) {
    std::vector<std::string> row{from};
    for (const std::string& to : targets) row.push_back(figures_of(links, from, to));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string link_note(const LinkMatrix& links) {
  if (!links.reason.empty()) return "Not measured: " + links.reason;
  std::string note = fmt::format(
      "GB are 10^9 bytes, of copies of {}; latency: a copy of {}, from its call until it is waited "
      "for. Medians of {} copies, one at a time, by copy_bench apart from the launches; no link is "
      "modelled here, and peer access is on where GPUs have it.",
      to_string(Bytes{links.copy_bytes}), to_string(Bytes{links.latency_bytes}), links.samples);
  if (links.of_devices > links.devices) {
    note +=
        fmt::format(" The first {} of {}.", links.devices, count_text(links.of_devices, "device"));
  }
  if (links.oversubscribed) note += " Devices may share cores or GPUs (--oversubscribe).";
  if (is_of_host(links)) {
    note +=
        " These devices are logical ones, cores over one memory: a copy between them is a core's "
        "copy within that memory, and says nothing of GPUs.";
  }
  return note;
}

}  // namespace tandem::reports
