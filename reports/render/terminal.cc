// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include "common/base/lines.h"
#include "reports/render/formats.h"

namespace tandem::reports {
namespace {

constexpr std::size_t kMostRows = 40;  // of a table among the details
constexpr std::size_t kLongestBar = 40;

// How much of an answer is drawn.
struct Extent {
  std::size_t lines = 0;  // of a list
  std::size_t rows = 0;   // of a table
  bool has_bars = true;
  bool is_cut = false;  // without the sentences that the screen has no lines for
};
// From the most to the least: the first that fits the screen is drawn.
constexpr std::array<Extent, 8> kExtents{{{3, 12},
                                          {3, 6},
                                          {2, 6},
                                          {2, 6, false},
                                          {1, 6, false},
                                          {1, 3, false},
                                          {1, 1, false},
                                          {1, 1, false, true}}};

// Draws blocks as lines; a table and bars stand apart from the text around them.
struct TerminalBlocks {
  Screen screen{};
  Extent extent{};
  bool has_more = false;  // sentences were left out
  std::string text{};
  bool stands_apart = false;  // what is drawn next

  void operator()(const Sentence& sentence) {
    const std::string lines = to_lines(sentence.text, screen.columns);
    const auto after = static_cast<std::size_t>(std::ranges::count(text + lines, '\n'));
    if (extent.is_cut && sentence.kind != "overall" && after >= screen.lines) {
      has_more = true;
      return;
    }
    space(false);
    text += lines;
  }

  void operator()(const List& list) {
    space(false);
    const std::string_view mark = list.kind == "notes" ? "  ! " : "  - ";
    const std::size_t most = screen.has_details ? list.lines.size() : extent.lines;
    for (std::size_t i = 0; i < std::min(most, list.lines.size()); ++i) {
      const bool is_note = list.kind == "notes" && !screen.has_details;
      text += to_lines(is_note ? beginning(list.lines[i]) : list.lines[i], screen.columns, mark);
    }
    if (list.lines.size() > most) {
      text += fmt::format("{}{} more: --details\n", mark, list.lines.size() - most);
    }
  }

  void operator()(const Code& code) {
    space(false);
    for (const std::string& line : code.lines) text += to_lines(line, screen.columns, "    ");
  }

  void operator()(const Table& block) {
    TextTable table = block.table;
    const std::size_t rows = table.rows.size();
    const std::size_t most = screen.has_details ? kMostRows : extent.rows;
    table.rows.resize(std::min(rows, most));
    space(true);
    text += to_text(table, screen.columns);
    if (rows > most) {
      text += to_lines(
          fmt::format("{} of {} rows; {}", most, rows,
                      screen.has_details ? "the files have all" : "--details shows the others"),
          screen.columns);
    }
  }

  void operator()(const Bars& block) {
    if (!extent.has_bars) return;
    std::size_t label = 0;
    std::size_t figure = 0;
    double longest = 0;
    for (const Bars::Bar& bar : block.bars) {
      label = std::max(label, width_of(bar.label));
      figure = std::max(figure, width_of(bar.figure));
      longest = std::max(longest, bar.length);
    }
    const std::size_t others = label + figure + 4;
    const std::size_t room =
        std::min(kLongestBar, screen.columns > others ? screen.columns - others : 0);
    space(true);
    text += to_lines(block.caption, screen.columns);
    for (const Bars::Bar& bar : block.bars) {
      const auto length =
          longest > 0 ? std::lround(static_cast<double>(room) * bar.length / longest) : 0;
      text += fmt::format("{:<{}}  {:>{}}  {}", bar.label, label, bar.figure, figure,
                          std::string(static_cast<std::size_t>(std::max(0L, length)), '#'));
      text.erase(text.find_last_not_of(' ') + 1);
      text += '\n';
    }
  }

  void operator()(const Chart& /*chart*/) {}

  // An answer has no headings, which need lines.
  void operator()(const Section& section) {
    if (!screen.has_details) return draw(section);
    TerminalBlocks inside{.screen = screen};
    inside.draw(section);
    if (inside.text.empty()) return;
    text += "\n" + to_lines(section.title, screen.columns);
    if (!section.hint.empty()) text += to_lines(section.hint, screen.columns);
    if (!section.document.empty()) {
      text += to_lines("Definitions: " + section.document, screen.columns);
    }
    text += (inside.text.starts_with('\n') ? "" : "\n") + inside.text;
  }

  // As much of a note as two lines hold, or one of a short answer.
  [[nodiscard]] std::string beginning(const std::string& note) const {
    const std::size_t room = std::min<std::size_t>(extent.lines, 2) * (screen.columns - 8);
    return note.size() <= room ? note : note.substr(0, note.rfind(' ', room)) + " ...";
  }

  void draw(const Section& section) {
    const unsigned drawn = kAnswer | (screen.has_details ? kMarkdown : 0U);
    for (const ReportBlock& block : section.blocks) {
      if ((block.formats & drawn) != 0) std::visit(*this, block.content);
    }
  }

  void space(bool is_apart) {
    if (is_apart || stands_apart) text += '\n';
    stands_apart = is_apart;
  }
};

}  // namespace

Screen screen(bool has_details) {
  return {.columns = columns_of(STDOUT_FILENO), .has_details = has_details};
}

std::string to_terminal(const Section& root, const Screen& screen) {
  std::string text;
  for (const Extent& extent : kExtents) {
    TerminalBlocks blocks{.screen = screen, .extent = extent};
    blocks.text = to_lines(root.title + (root.title.ends_with('.') ? "" : "."), screen.columns);
    blocks.draw(root);
    text = std::move(blocks.text);
    if (blocks.has_more) text += "more: --details\n";
    const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
    if (screen.has_details || lines <= screen.lines) break;
  }
  return text;
}

}  // namespace tandem::reports
