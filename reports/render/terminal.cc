// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <tuple>
#include <utility>
#include <variant>

#include "reports/render/formats.h"

namespace tandem::reports {
namespace {

constexpr std::size_t kMostAnswerRows = 6;  // so that an answer fits a screen
constexpr std::size_t kMostRows = 40;
constexpr std::size_t kLongestBar = 40;

// Draws blocks as lines; a table and bars stand apart from the text around them.
struct TerminalBlocks {
  Screen screen{};
  std::size_t most_lines = 0;  // of an answer's list
  bool has_bars = true;
  bool is_cut = false;  // without the sentences that the screen has no lines for
  bool has_more = false;
  std::string text{};
  bool stands_apart = false;  // what is drawn next

  void operator()(const Sentence& sentence) {
    const std::string lines = to_lines(sentence.text, screen.columns);
    const auto after = static_cast<std::size_t>(std::ranges::count(text + lines, '\n'));
    if (is_cut && sentence.kind != "overall" && after >= screen.lines) {
      has_more = true;
      return;
    }
    space(false);
    text += lines;
  }

  void operator()(const List& list) {
    space(false);
    const std::string_view mark = list.kind == "notes" ? "  ! " : "  - ";
    const std::size_t most = screen.has_details ? list.lines.size() : most_lines;
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
    const std::size_t most = screen.has_details ? kMostRows : kMostAnswerRows;
    table.rows.resize(std::min(rows, most));
    space(true);
    text += to_text(table, screen.columns);
    if (rows > most) {
      text += fmt::format("the first {} of {} rows; {}\n", most, rows,
                          screen.has_details ? "the files have all" : "--details has more");
    }
  }

  void operator()(const Bars& block) {
    if (!has_bars) return;
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

  // As much of a note as two lines take.
  [[nodiscard]] std::string beginning(const std::string& note) const {
    const std::size_t room = 2 * screen.columns - 16;
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

std::string to_terminal(const Section& root, const Screen& screen) {
  // Where an answer is longer than the screen, lists end earlier, bars are left out, and what
  // stands below the answer ends earlier.
  constexpr std::array<std::tuple<std::size_t, bool, bool>, 5> kSizes{
      {{3, true, false}, {2, true, false}, {2, false, false}, {1, false, false}, {1, false, true}}};
  std::string text;
  for (const auto& [most_lines, has_bars, is_cut] : kSizes) {
    TerminalBlocks blocks{.screen = screen,
                          .most_lines = most_lines,
                          .has_bars = has_bars,
                          .is_cut = is_cut && !screen.has_details};
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
