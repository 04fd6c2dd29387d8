// SPDX-License-Identifier: Apache-2.0
#include "reports/render/markdown.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/answer/advice.h"
#include "reports/answer/panels.h"
#include "reports/render/definition_links.h"
#include "reports/render/explanation_sections.h"
#include "reports/tables/break_even.h"
#include "reports/tables/bucket_curve.h"
#include "reports/tables/cell_table.h"
#include "reports/tables/collective_table.h"
#include "reports/tables/ddp_cost_table.h"
#include "reports/tables/dropped.h"
#include "reports/tables/host_work_table.h"
#include "reports/tables/other_figures.h"
#include "reports/tables/published.h"
#include "reports/tables/trust.h"
#include "reports/tables/twin_table.h"
#include "reports/tables/two_by_two.h"
#include "reports/text/section_words.h"

namespace tandem::reports {

namespace {

constexpr std::size_t kMostOpenRows = 8;

constexpr int kSection = 2;
constexpr int kBlock = 3;
constexpr int kPoint = 4;

// The pieces of the Markdown. Each piece begins with an empty line and ends with a line end, so
// that pieces may follow each other; a piece without content is empty. Pieces escape text; a
// parameter named body consists of pieces.
std::string paragraph_markdown(std::string_view text) {
  return text.empty() ? "" : fmt::format("\n{}\n", escape_markdown(std::string(text)));
}

std::string list(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "- " + escape_markdown(line) + "\n";
  return text;
}

std::string list_markdown(const std::vector<std::string>& lines) {
  return lines.empty() ? "" : "\n" + list(lines);
}

// Code is indented, since no line's content can end an indented block, as a line could end a fence.
std::string code_markdown(const std::vector<std::string>& lines) {
  std::string text = lines.empty() ? "" : "\n";
  for (std::string line : lines) {
    std::ranges::replace_if(
        line, [](char c) { return c == '\n' || c == '\r'; }, ' ');
    text += fmt::format("    {}\n", line);
  }
  return text;
}

// The body folded away below one line.
std::string folded_markdown(std::string_view summary, const std::string& body) {
  if (body.empty()) return "";
  return fmt::format("\n<details><summary>{}</summary>\n{}\n</details>\n",
                     escape_markdown(std::string(summary)), body);
}

// A heading of that level above the body; empty where the body is empty.
std::string headed_markdown(int level, std::string_view title, const std::string& body) {
  if (body.empty()) return "";
  return fmt::format("\n{:#>{}} {}\n{}", "", level, escape_markdown(std::string(title)), body);
}

// The note below the body; empty where the body is empty.
std::string noted_markdown(const std::string& body, std::string_view note) {
  return body.empty() ? "" : body + paragraph_markdown(note);
}

// The body below a heading of that level, its hint and the way to what its figures mean; empty
// where the body is empty.
std::string headed_markdown(int level, const Heading& heading, const std::string& body) {
  if (body.empty()) return "";
  return headed_markdown(
      level, heading.title,
      paragraph_markdown(heading.hint) + definition_line_markdown(heading.id) + body);
}

std::string block(const Heading& heading, const std::string& body) {
  return headed_markdown(kBlock, heading, body);
}

std::string verdict_part(const VerdictText& verdict) {
  const bool has_choices = !verdict.choices.rows.empty();
  const std::string words = list_markdown(first_sentences(verdict.workloads));
  return fmt::format("# {}\n\n**{}**\n", escape_markdown(verdict.subject),
                     escape_markdown(headline(verdict))) +
         (has_choices ? fmt::format("\n{}", to_markdown(verdict.choices)) +
                            paragraph_markdown(kChoices.hint)
                      : "") +
         paragraph_markdown(verdict.tested) + list_markdown(verdict.breaks) +
         (has_choices ? folded_markdown(kInWords, words) : words) +
         headed_markdown(kSection, kWarnings, list_markdown(verdict.notes));
}

std::string advice_part(const std::vector<Advice>& advice) {
  std::vector<std::string> lines;
  for (const Advice& item : advice) {
    lines.push_back(fmt::format("{} (evidence: {})", item.text, item.evidence.title));
  }
  return headed_markdown(kSection, kAdvice, list_markdown(lines));
}

// The panels of the page, a table each.
std::string sources_block(const std::vector<Panel>& panels) {
  std::string text;
  const std::vector<TextTable> tables = panel_tables(panels);
  for (std::size_t at = 0; at < panels.size(); ++at) {
    const std::string table = table_markdown(tables[at]);
    if (table.empty()) continue;
    text += fmt::format("\n**{}**\n", escape_markdown(panels[at].title)) +
            paragraph_markdown(panels[at].note) + table;
  }
  return block(kSources, text);
}

std::string scaling_part(const Report& report) {
  const Summary& summary = report.summary;
  return headed_markdown(kSection, kScaling,
                         block(kCells, table_markdown(cell_table(summary))) +
                             sources_block(panels_of(report)) +
                             block(kWeak, table_markdown(weak_table(summary))));
}

std::string section_markdown(const Section& section) {
  const std::string table = section.table.rows.empty() ? "" : to_markdown(section.table);
  return fmt::format("\n**{}**\n{}{}{}", escape_markdown(section.title),
                     list_markdown(section.lines), table.empty() ? "" : "\n", table);
}

// The answer and the ladder are visible at once; their details are folded away.
std::string explained_point(const Explanation& explanation) {
  const std::vector<Section> sections = sections_of(explanation);
  constexpr std::size_t kOpen = 2;
  std::string open;
  std::string folded;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    (i < kOpen ? open : folded) += section_markdown(sections[i]);
  }
  const GapQuestion& question = explanation.question;
  return headed_markdown(
      kPoint,
      fmt::format("{}, batch {}, {} devices", question.model, question.batch, question.devices),
      open + folded_markdown("What stands behind the ladder", folded));
}

std::string gap_part(const Report& report) {
  const Summary& summary = report.summary;
  std::string points;
  for (const Explanation& explanation : report.explanations) {
    points += explained_point(explanation);
  }
  return headed_markdown(
      kSection, kGap,
      block(kLadderOfCauses, points) + block(kPhaseTimes, table_markdown(phase_table(summary))) +
          block(kCosts, table_markdown(ddp_cost_table(summary))) +
          block(kCorners, noted_markdown(table_markdown(two_by_two_table(summary)),
                                         two_by_two_note(summary))) +
          block(kHostWork, table_markdown(host_work_table(summary))) +
          block({kTwin.id, twin_heading(summary).title},
                noted_markdown(table_markdown(twin_table(summary)), twin_note(summary))));
}

// The map as a table, unless the table is too wide to read.
std::string map_piece(const WinMap& map) {
  constexpr std::size_t kMostColumns = 12;
  if (map.batches.size() > kMostColumns) {
    return paragraph_markdown(
        fmt::format("{}: {} batches, too many for columns; they stand in the table below.",
                    map.title, map.batches.size()));
  }
  return fmt::format("\n**{}**\n{}", escape_markdown(map.title), table_markdown(map_table(map)));
}

std::string map_part(const Summary& summary) {
  std::string maps;
  for (const WinMap& map : win_maps(summary)) maps += map_piece(map);
  if (maps.empty()) {
    return headed_markdown(kSection, kMap.title, paragraph_markdown(kNoMap));
  }
  return headed_markdown(kSection, kMap,
                         maps + block(kComparisons, table_markdown(comparison_table(summary))));
}

std::string details_part(const Summary& summary) {
  return headed_markdown(kSection, kDetails,
                         block(kMemory, table_markdown(memory_table(summary))) +
                             block(kEnergy, table_markdown(energy_table(summary))) +
                             block(kBucketSizes, table_markdown(bucket_curve_table(summary))) +
                             block(kCollectives, table_markdown(collective_table(summary)) +
                                                     table_markdown(bucket_table(summary))) +
                             block(kModes, table_markdown(mode_table(summary))));
}

std::string normal_part(const Report& report) {
  return headed_markdown(kSection, kNormal, table_markdown(published_table(report.summary)));
}

std::string links_block(const results::SweepInfo& sweep) {
  if (!sweep.links) return "";
  return block(kLinks, table_markdown(link_table(*sweep.links)) +
                           paragraph_markdown(link_note(*sweep.links)));
}

std::string trust_part(const Report& report) {
  const results::SweepInfo& sweep = report.document.sweep;
  std::vector<std::string> machine;
  for (const auto& [name, value] : machine_lines(report)) machine.push_back(name + ": " + value);
  return headed_markdown(kSection, kTrust,
                         list_markdown(trust_lines(report.document, report.summary)) +
                             block(kWithout, table_markdown(failures_table(report.summary))) +
                             block(kDropped, table_markdown(dropped_table(sweep))) +
                             block(kOthers, table_markdown(other_figures_table(report.document))) +
                             block(kMachine, list_markdown(machine)) + links_block(sweep) +
                             block(kReproduce, code_markdown(reproduce_commands(sweep))) +
                             block(kMethod, list_markdown(method_lines(report))));
}

std::string with_definitions(const std::string& text) { return text + definitions_markdown(text); }

std::string section(std::string_view title, const TextTable& table) {
  return headed_markdown(kSection, title,
                         table.rows.empty() ? "" : fmt::format("\n{}", to_markdown(table)));
}

}  // namespace

std::string table_markdown(const TextTable& table) {
  if (table.rows.empty()) return "";
  std::string body = fmt::format("\n{}", to_markdown(table));
  if (table.rows.size() <= kMostOpenRows) return body;
  return folded_markdown(fmt::format("{} rows", table.rows.size()), body);
}

std::string to_markdown(const Report& report) {
  return with_definitions(verdict_part(report.verdict) + advice_part(report.advice) +
                          scaling_part(report) + gap_part(report) + map_part(report.summary) +
                          details_part(report.summary) + normal_part(report) + trust_part(report));
}

std::string to_markdown(const SideBySide& side) {
  const std::string cells = fmt::format("\n{}", to_markdown(side_table(side)));
  return with_definitions(
      fmt::format("# {} documents side by side\n\n", side.size()) + list(side_lines(side)) +
      section("Documents", documents_table(side)) +
      headed_markdown(kSection, kSide, cells + list_markdown(side_notes(side))) +
      section(kPartial.title, partial_table(side)) + section("Machines", facts_table(side)));
}

std::string to_terminal(const SideBySide& side) {
  std::string text;
  for (std::size_t i = 0; i < side.size(); ++i) {
    text += fmt::format("{}  {}: {}.\n", letter(i), side.names[i], side.reports[i].verdict.subject);
  }
  text += fmt::format("\n{}\n", to_text(side_table(side)));
  for (const std::string& line : side_notes(side)) text += fmt::format("  ! {}\n", line);
  for (const std::string& line : side_lines(side)) text += line + "\n";
  return text;
}

}  // namespace tandem::reports
