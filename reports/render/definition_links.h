// SPDX-License-Identifier: Apache-2.0
//
// The ways from the sections of a report to what their figures mean (text/definitions.h).
#pragma once

#include <string>
#include <string_view>

namespace tandem::reports {

// "Definitions: speed-up, ...", each name a link on the page; empty for a section without figures.
[[nodiscard]] std::string definition_links_html(std::string_view section);

// The meanings that the markup links to, as a list; empty where it links to none.
[[nodiscard]] std::string definitions_html(const std::string& markup);

// The same as a paragraph of Markdown, each name with a footnote.
[[nodiscard]] std::string definition_line_markdown(std::string_view section);

// The footnotes that the text refers to, below a heading of the second level.
[[nodiscard]] std::string definitions_markdown(const std::string& text);

}  // namespace tandem::reports
