// SPDX-License-Identifier: Apache-2.0
#include "reports/render/markdown.h"

#include <fmt/format.h>

#include <algorithm>

#include "reports/answer/advice.h"
#include "reports/render/explanation_sections.h"
#include "reports/tables/break_even.h"
#include "reports/tables/bucket_curve.h"
#include "reports/tables/cell_table.h"
#include "reports/tables/collective_table.h"
#include "reports/tables/ddp_cost_table.h"
#include "reports/tables/dropped.h"
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

// The hint above the body; empty where the body is empty.
std::string hinted_markdown(std::string_view hint, const std::string& body) {
  return body.empty() ? "" : paragraph_markdown(hint) + body;
}

// The note below the body; empty where the body is empty.
std::string noted_markdown(const std::string& body, std::string_view note) {
  return body.empty() ? "" : body + paragraph_markdown(note);
}

// The body below a title of the third level and a hint.
std::string block(std::string_view title, std::string_view hint, const std::string& body) {
  return headed_markdown(kBlock, title, hinted_markdown(hint, body));
}

std::string verdict_part(const VerdictText& verdict) {
  std::vector<std::string> sentences = verdict.breaks;
  for (std::string& line : first_sentences(verdict.workloads)) sentences.push_back(std::move(line));
  return fmt::format("# {}\n\n**{}**\n", escape_markdown(verdict.subject),
                     escape_markdown(verdict.overall)) +
         paragraph_markdown(verdict.tested) + list_markdown(sentences) +
         headed_markdown(kSection, "Beside it", list_markdown(verdict.notes));
}

std::string advice_part(const std::vector<Advice>& advice) {
  std::vector<std::string> lines;
  for (const Advice& item : advice) {
    lines.push_back(fmt::format("{} (evidence: {})", item.text, item.evidence.title));
  }
  return headed_markdown(kSection, kAdviceTitle, list_markdown(lines));
}

std::string scaling_part(const Summary& summary) {
  const std::string body = block(kCellsTitle, kCellsHint, table_markdown(cell_table(summary))) +
                           block(kWeakTitle, "", table_markdown(weak_table(summary)));
  return headed_markdown(kSection, kScalingTitle, hinted_markdown(kScalingHint, body));
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
      kSection, kGapTitle,
      block(kLadderTitle, kLadderHint, points) +
          block(kPhasesTitle,
                std::string(kPhasesHint) + " In milliseconds, and as a share of the mean step.",
                table_markdown(phase_table(summary))) +
          block(kDdpCostTitle, "",
                noted_markdown(table_markdown(ddp_cost_table(summary)), kDdpCostNote)) +
          block(
              kCornersTitle, kCornersHint,
              noted_markdown(table_markdown(two_by_two_table(summary)), two_by_two_note(summary))) +
          block(kTwinTitle, "",
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
    return headed_markdown(kSection, kMapTitle, paragraph_markdown(kNoMap));
  }
  return headed_markdown(
      kSection, kMapTitle,
      hinted_markdown(kMapHint, maps) +
          block(kComparisonsTitle, "", table_markdown(comparison_table(summary))));
}

std::string collectives_markdown(const Summary& summary) {
  const std::string table = table_markdown(collective_table(summary));
  if (table.empty()) return "";
  return block(kCollectivesTitle, "",
               noted_markdown(table, kCollectivesNote) + table_markdown(bucket_table(summary)));
}

std::string details_part(const Summary& summary) {
  return headed_markdown(
      kSection, kDetailsTitle,
      block(kMemoryTitle, kMemoryHint, table_markdown(memory_table(summary))) +
          block(kBucketsTitle, kBucketsHint, table_markdown(bucket_curve_table(summary))) +
          collectives_markdown(summary) +
          block(kModesTitle, kModesHint, table_markdown(mode_table(summary))));
}

std::string normal_part(const Report& report) {
  const std::string table = fmt::format("\n{}", to_markdown(published_table(report.summary)));
  return headed_markdown(kSection, kNormalTitle,
                         hinted_markdown(kNormalHint, folded_markdown("Published figures", table)));
}

std::string links_block(const results::SweepInfo& sweep) {
  if (!sweep.links) return "";
  return block(
      kLinksTitle, "",
      table_markdown(link_table(*sweep.links)) + paragraph_markdown(link_note(*sweep.links)));
}

std::string trust_part(const Report& report) {
  const results::SweepInfo& sweep = report.document.sweep;
  std::vector<std::string> machine;
  for (const auto& [name, value] : machine_lines(report)) machine.push_back(name + ": " + value);
  return headed_markdown(
      kSection, kTrustTitle,
      list_markdown(trust_lines(report.document, report.summary)) +
          block(kWithoutTitle, "", table_markdown(failures_table(report.summary))) +
          block(kDroppedTitle, "", table_markdown(dropped_table(sweep))) +
          block(kOtherFiguresTitle, "", table_markdown(other_figures_table(report.document))) +
          block(kMachineTitle, "", list_markdown(machine)) + links_block(sweep) +
          block(kReproduceTitle, kReproduceHint, code_markdown(reproduce_commands(sweep))) +
          block(kMethodTitle, "", list_markdown(method_lines(report))));
}

std::string section(const char* title, const TextTable& table) {
  return table.rows.empty() ? "" : fmt::format("\n## {}\n\n{}", title, to_markdown(table));
}

}  // namespace

std::string table_markdown(const TextTable& table) {
  if (table.rows.empty()) return "";
  std::string body = fmt::format("\n{}", to_markdown(table));
  if (table.rows.size() <= kMostOpenRows) return body;
  return folded_markdown(fmt::format("{} rows", table.rows.size()), body);
}

std::string to_markdown(const Report& report) {
  return verdict_part(report.verdict) + advice_part(report.advice) + scaling_part(report.summary) +
         gap_part(report) + map_part(report.summary) + details_part(report.summary) +
         normal_part(report) + trust_part(report);
}

std::string to_markdown(const SideBySide& side) {
  return fmt::format("# {} documents side by side\n\n", side.size()) + list(side_lines(side)) +
         section("Documents", documents_table(side)) +
         section("Cells that A and others measured", side_table(side)) + "\n" +
         list(side_notes(side)) +
         section("Cells that not all documents measured", partial_table(side)) +
         section("Machines", facts_table(side));
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
