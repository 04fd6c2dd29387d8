// SPDX-License-Identifier: Apache-2.0
//
// Pieces of the page. Each piece escapes its text parameters; parameters named body, above and
// below, and the results of other pieces, are markup already.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "reports/answer/panels.h"
#include "reports/render/page_data.h"
#include "reports/tables/break_even.h"
#include "reports/text/section_words.h"
#include "reports/text/table.h"

namespace tandem::reports {

// The most rows of a table on the page; the files beside the page have all rows.
inline constexpr std::size_t kMostRows = 300;

// The text as HTML, with markup characters and quotes escaped; a text longer than a few thousand
// bytes is cut, and says so.
[[nodiscard]] std::string escape_html(const std::string& text);

// An unordered list; empty without lines.
[[nodiscard]] std::string list_html(std::string_view kind, const std::vector<std::string>& lines);

// The lines as a list in a panel.
[[nodiscard]] std::string panel_html(const std::vector<std::string>& lines);

// The body folded away below one line; empty where the body is empty.
[[nodiscard]] std::string folded_html(std::string_view summary, const std::string& body);

// A heading of the second level, its hint, `more` to know and the way to what its figures mean, and
// the body; empty where the body is empty.
[[nodiscard]] std::string section_html(const Heading& heading, const std::string& body,
                                       std::string_view more = "");

// The same with a heading of the third level.
[[nodiscard]] std::string block_html(const Heading& heading, const std::string& body,
                                     std::string_view more = "");

// A table of at most kMostRows rows, then a line with the number of all rows and the files that
// have all.
[[nodiscard]] std::string table_html(const TextTable& table, std::string_view caption,
                                     std::string_view files = "report.md and cells.csv have");

// The map with the winner of each cell, as word, figure and colour.
[[nodiscard]] std::string map_html(const WinMap& map);

// The charts, each with a heading and a hint on how to read the chart, and with `above` and
// `below`, such as the chart's figures as a table, around it. The figures shown come from the
// page's data.
// With panels it is a chart for each, and below each what stands behind it.
[[nodiscard]] std::string scaling_chart(const std::vector<Panel>& panels, const std::string& above,
                                        const std::string& below);
// The picture of the first screen: no heading, and how to read it below.
[[nodiscard]] std::string phase_picture();
[[nodiscard]] std::string memory_chart(const std::string& below);
[[nodiscard]] std::string wire_chart(const std::string& below);
[[nodiscard]] std::string bucket_chart(const std::string& below);
// The chart without a heading; empty where no point compares dp and ddp.
[[nodiscard]] std::string forest_chart(const PageData& data);
// The chart of samples; empty where there are no steps.
[[nodiscard]] std::string sample_chart(const PageData& data);

// The page around its header and sections.
[[nodiscard]] std::string page_html(const std::string& title, const std::string& header,
                                    const std::string& sections, const PageData& data);

}  // namespace tandem::reports
