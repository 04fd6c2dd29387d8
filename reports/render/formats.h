// SPDX-License-Identifier: Apache-2.0
//
// The formats of a report: each draws the tree of blocks that answer/trees.h makes.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "common/base/lines.h"
#include "reports/answer/report.h"
#include "reports/answer/trees.h"
#include "reports/model/document_change.h"
#include "reports/text/blocks.h"

namespace tandem::reports {

// The terminal's limits.
struct Screen {
  std::size_t columns = kMostColumns;  // no line is longer, unless a single word is
  bool has_details = false;            // all that Markdown has stands there, beside the answer
  std::size_t lines = 24;              // of an answer: lists and bars give way; a tool adds a path
};

// The screen of stdout, as wide as columns_of() says.
[[nodiscard]] Screen screen(bool has_details);

// For the terminal: the answer, or with details everything. A table that is too wide is narrowed;
// if it is still too wide, its rows become sentences.
[[nodiscard]] std::string to_terminal(const Section& root, const Screen& screen = {});

// Long tables are folded away below a line with the number of their rows.
[[nodiscard]] std::string to_markdown(const Section& root);

// One page that loads nothing: styles, charts and their figures are inside. All but the charts is
// there without a script. Tables are cut at some hundred rows, and the page says where. `data` are
// page_data().
[[nodiscard]] std::string to_html(const Section& root, const std::string& data);
[[nodiscard]] std::string to_html(const Report& report);

// Whether a file that begins so is such a page.
[[nodiscard]] bool begins_page(std::string_view begin);

// Whatever has a tree.
template <class Subject>
[[nodiscard]] std::string to_terminal(const Subject& subject, const Screen& screen = {}) {
  return to_terminal(tree_of(subject), screen);
}
template <class Subject>
[[nodiscard]] std::string to_markdown(const Subject& subject) {
  return to_markdown(tree_of(subject));
}

// The conditions that separate curves, in words: precision, mode, back end, oversubscription and
// modelled parts.
[[nodiscard]] std::string conditions_of(const CellSummary& cell);

// Every figure that the charts draw, computed here: the script only draws and filters. JSON that
// may stand inside a script element: the text has no "<". The first lines of page_data.cc document
// it. Where comparisons are many, it has those on the most devices.
[[nodiscard]] std::string page_data(const Report& report,
                                    std::size_t most_comparisons = kMostCharted);

// The changes between two documents: the counts, the cells that changed, the other differences, how
// to read the ratios, and all cells.
[[nodiscard]] Section tree_of(const DocumentChange& changes);

// The changes as JSON, with a line end: threshold, confidences, counts, notes, and an object per
// cell. Both ends of a missing interval are null.
[[nodiscard]] std::string to_json(const DocumentChange& changes);

// The most rows of a table on the page.
inline constexpr std::size_t kMostPageRows = 300;

// The text as HTML, with markup characters and quotes escaped; a text longer than a few thousand
// bytes is cut, and says so.
[[nodiscard]] std::string escape_html(const std::string& text);

// Files that every page carries, embedded at build time: the page needs no network, and the program
// no data files. Chart.js is the system package's, with the licence in its first lines.
[[nodiscard]] std::string_view chart_js();
[[nodiscard]] std::string_view drawing_js();
[[nodiscard]] std::string_view scaling_js();
[[nodiscard]] std::string_view tables_js();
[[nodiscard]] std::string_view page_js();
[[nodiscard]] std::string_view page_css();

}  // namespace tandem::reports
