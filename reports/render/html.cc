// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <variant>
#include <vector>

#include "common/base/text.h"
#include "reports/render/formats.h"
#include "reports/text/format.h"

namespace tandem::reports {
namespace {

constexpr std::size_t kLongestText = 4000;

// The hint of a section, and the document that defines its figures.
std::string hint_of(const Section& section) {
  std::vector<std::string> parts{escape_html(section.hint)};
  if (!section.document.empty()) {
    parts.push_back(fmt::format("Definitions: <code>{}</code>.", section.document));
  }
  std::erase(parts, "");
  return parts.empty() ? "" : fmt::format("<p class=\"hint\">{}</p>\n", join(parts, " "));
}

std::string folded_html(const std::string& summary, const std::string& body) {
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", escape_html(summary), body);
}

std::string cell_html(const TextTable& table, std::size_t row, std::size_t column) {
  const std::string_view side = table.columns[column].is_right ? " class=\"right\"" : "";
  return fmt::format("<td{}>{}</td>", side, escape_html(table.rows[row][column]));
}

// A rule separates workloads, which differ in one of the first two columns.
bool begins_group(const TextTable& table, std::size_t row) {
  if (row == 0) return false;
  const auto differs = [&](std::size_t column) {
    return column < table.columns.size() && table.rows[row][column] != table.rows[row - 1][column];
  };
  return differs(0) || differs(1);
}

std::string table_html(const Table& block) {
  const TextTable& table = block.table;
  std::string html = fmt::format(
      "<div class=\"panel scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table>\n"
      "<caption class=\"unseen\">{0}</caption>\n<thead><tr>",
      escape_html(block.caption));
  for (const TextTable::Column& column : table.columns) {
    html += fmt::format("<th{} scope=\"col\">{}</th>", column.is_right ? " class=\"right\"" : "",
                        escape_html(column.title));
  }
  html += "</tr></thead>\n<tbody>\n";
  for (std::size_t row = 0; row < std::min(table.rows.size(), kMostPageRows); ++row) {
    html += begins_group(table, row) ? "<tr class=\"group\">" : "<tr>";
    for (std::size_t i = 0; i < table.rows[row].size(); ++i) html += cell_html(table, row, i);
    html += "</tr>\n";
  }
  html += "</tbody></table></div>\n";
  if (table.rows.size() <= kMostPageRows) return html;
  return html + fmt::format(
                    "<p class=\"hint cut\">The first {} of {} rows; the Markdown beside "
                    "this page has all.</p>\n",
                    kMostPageRows, table.rows.size());
}

std::string canvas_html(const std::string& id, const std::string& words) {
  return fmt::format(
      "<div class=\"chart\"><canvas id=\"{}\" role=\"img\" aria-label=\"{}\"></canvas></div>", id,
      escape_html(words));
}

// The canvas of each source; the script writes the question that they share above them.
std::string sources_html(const Chart& chart) {
  std::string html = fmt::format(
      "<h3 id=\"scaling-question\">{}</h3>\n<p class=\"hint\">{}</p>\n<div class=\"sources\">\n",
      kSources.title, kSources.hint);
  for (std::size_t at = 0; at < chart.sources.size(); ++at) {
    const Chart::Source& source = chart.sources[at];
    const std::string id = at == 0 ? chart.id : fmt::format("{}-{}", chart.id, at + 1);
    html += fmt::format("<div class=\"source\">{}<p class=\"hint\">{}</p></div>\n",
                        canvas_html(id, source.title), escape_html(source.note));
  }
  return html + "</div>\n";
}

struct HtmlBlocks {
  int level = 1;  // of the headings above
  std::string text{};

  void operator()(const Sentence& sentence) {
    text += fmt::format("<p class=\"{}\">{}</p>\n", sentence.kind, escape_html(sentence.text));
  }

  void operator()(const List& list) {
    std::string html = fmt::format("<ul class=\"{}\">\n", list.kind);
    for (std::size_t i = 0; i < list.lines.size(); ++i) {
      html += "<li>" + escape_html(list.lines[i]);
      if (!list.evidence.empty()) {
        html += fmt::format(" <a href=\"#{}\">evidence</a>", list.evidence[i].id);
      }
      html += "</li>\n";
    }
    html += "</ul>\n";
    text += list.kind == "method" ? "<div class=\"panel\">" + html + "</div>\n" : html;
  }

  void operator()(const Code& code) {
    text += fmt::format("<div class=\"panel\"><pre>{}</pre></div>\n",
                        escape_html(join(code.lines, "\n")));
  }

  void operator()(const Table& table) {
    text += table.is_folded ? folded_html("As a table", table_html(table)) : table_html(table);
  }

  void operator()(const Chart& chart) {
    text += fmt::format(
        "<div class=\"panel\"><div class=\"controls\" id=\"{0}-controls\"></div>{1}"
        "<p class=\"hint\" id=\"{0}-note\" aria-live=\"polite\"></p></div>\n",
        chart.id, chart.sources.empty() ? canvas_html(chart.id, chart.words) : sources_html(chart));
  }

  void operator()(const Bars& /*bars*/) {}  // the page has charts

  void operator()(const Section& section) {
    HtmlBlocks inside{.level = section.is_folded ? level : level + 1};
    for (const ReportBlock& block : section.blocks) inside.draw(block);
    if (inside.text.empty()) return;
    const std::string title = escape_html(section.title);
    const std::string content = hint_of(section) + inside.text;
    if (section.is_folded) {
      text += folded_html(section.title, content);
    } else if (level == 1) {
      text += fmt::format(
          "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n{2}"
          "</section>\n",
          section.id, title, content);
    } else {
      const std::string id = section.id.empty() ? "" : fmt::format(" id=\"{}\"", section.id);
      text += fmt::format("<div{0} class=\"block\">\n<h{1}>{2}</h{1}>\n{3}</div>\n", id, level + 1,
                          title, content);
    }
  }

  void draw(const ReportBlock& block) {
    if ((block.formats & kPage) != 0) std::visit(*this, block.content);
  }
};

// Links to the sections of the page that are drawn.
std::string contents_html(const Section& root, const std::string& sections) {
  std::string links;
  for (const ReportBlock& block : root.blocks) {
    const auto* const section = std::get_if<Section>(&block.content);
    if (section == nullptr ||
        sections.find(fmt::format("<section id=\"{}\"", section->id)) == std::string::npos) {
      continue;
    }
    links += fmt::format("<a href=\"#{}\">{}</a>\n", section->id, escape_html(section->title));
  }
  return "<nav aria-label=\"Sections\">\n" + links + "</nav>\n";
}

// The policy keeps a page from fetching anything, should any text slip through the escaping.
constexpr std::string_view kHead =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n";

std::string scripts(const std::string& data) {
  std::string html =
      fmt::format("<script type=\"application/json\" id=\"data\">{}</script>\n", data);
  for (const std::string_view script :
       {chart_js(), drawing_js(), scaling_js(), page_js(), tables_js()}) {
    html += fmt::format("<script>\n{}</script>\n", script);
  }
  return html;
}

}  // namespace

std::string escape_html(const std::string& text) {
  std::string escaped = markup_escaped(std::string_view(text).substr(0, kLongestText));
  if (text.size() > kLongestText) escaped += fmt::format(" ... ({} bytes)", text.size());
  return escaped;
}

bool begins_page(std::string_view begin) { return begin.starts_with(kHead); }

std::string to_html(const Section& root, const std::string& data) {
  HtmlBlocks header;
  HtmlBlocks sections;
  header.text = fmt::format("<h1>{}</h1>\n", escape_html(root.title));
  for (const ReportBlock& block : root.blocks) {
    // The first screen has what stands before the first section, and what to use.
    const auto* const section = std::get_if<Section>(&block.content);
    const bool is_first = section == nullptr ? sections.text.empty() : section->id == kChoices.id;
    (is_first ? header : sections).draw(block);
  }
  return fmt::format(
      "{}<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n<header>\n{}</header>\n"
      "{}<noscript><p class=\"hint\">The charts need JavaScript; all their figures are in the "
      "tables.</p></noscript>\n{}<footer>Charts by Chart.js (MIT licence), inlined. This page "
      "loads nothing.</footer>\n</main>\n{}</body>\n</html>\n",
      kHead, escape_html(root.title), page_css(), header.text, contents_html(root, sections.text),
      sections.text, scripts(data));
}

std::string to_html(const Report& report) { return to_html(tree_of(report), page_data(report)); }

}  // namespace tandem::reports
