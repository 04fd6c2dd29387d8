// SPDX-License-Identifier: Apache-2.0
#include "reports/render/definition_links.h"

#include <fmt/format.h>

#include <vector>

#include "reports/render/html_parts.h"
#include "reports/text/definitions.h"
#include "reports/text/format.h"
#include "reports/text/section_words.h"
#include "reports/text/table.h"

namespace tandem::reports {
namespace {

std::string link_html(const FigureDefinition& definition) {
  return fmt::format("<a href=\"#definition-{}\">{}</a>", definition.key, definition.name);
}

std::string footnote(const FigureDefinition& definition) {
  return fmt::format("[^{}]", definition.key);
}

std::string footnoted(const FigureDefinition& definition) {
  return escape_markdown(std::string(definition.name)) + footnote(definition);
}

std::string links(std::string_view section, std::string (*link)(const FigureDefinition&)) {
  std::vector<std::string> parts;
  for (const FigureDefinition* definition : definitions_of(section))
    parts.push_back(link(*definition));
  return parts.empty() ? "" : "Definitions: " + join(parts, ", ") + ".";
}

}  // namespace

std::string definition_links_html(std::string_view section) { return links(section, link_html); }

std::string definitions_html(const std::string& markup) {
  std::string html;
  for (const FigureDefinition& definition : kDefinitions) {
    if (markup.find(link_html(definition)) == std::string::npos) continue;
    html += fmt::format("<dt id=\"definition-{}\">{}</dt><dd>{} <code>{}</code></dd>\n",
                        definition.key, definition.name,
                        escape_html(std::string(definition.meaning)), definition.document);
  }
  return html.empty() ? "" : "<div class=\"panel\"><dl>\n" + html + "</dl></div>\n";
}

std::string definition_line_markdown(std::string_view section) {
  const std::string line = links(section, footnoted);
  return line.empty() ? "" : fmt::format("\n{}\n", line);
}

std::string definitions_markdown(const std::string& text) {
  std::string notes;
  for (const FigureDefinition& definition : kDefinitions) {
    if (text.find(footnote(definition)) == std::string::npos) continue;
    notes += fmt::format("\n{}: **{}**: {} (`{}`)\n", footnote(definition),
                         escape_markdown(std::string(definition.name)),
                         escape_markdown(std::string(definition.meaning)), definition.document);
  }
  if (notes.empty()) return "";
  return fmt::format("\n## {}\n\n{}\n{}", kFigures.title, kFigures.hint, notes);
}

}  // namespace tandem::reports
