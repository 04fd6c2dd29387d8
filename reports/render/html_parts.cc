// SPDX-License-Identifier: Apache-2.0
#include "reports/render/html_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "common/base/text.h"
#include "reports/render/definition_links.h"
#include "reports/render/html.h"
#include "reports/text/format.h"

namespace tandem::reports {

namespace {

constexpr std::size_t kLongestText = 4000;

std::string cell_html(const std::string& text, bool is_right, std::string_view element,
                      std::string_view scope = "") {
  const std::string_view side = is_right ? " class=\"right\"" : "";
  return fmt::format("<{0}{1}{2}>{3}</{0}>", element, side, scope, escape_html(text));
}

std::string rows_html(const TextTable& table) {
  std::string html;
  const std::vector<std::string>* above = nullptr;
  const std::size_t count = std::min(table.rows.size(), kMostRows);
  for (std::size_t at = 0; at < count; ++at) {
    const std::vector<std::string>& row = table.rows[at];
    // A rule separates workloads, which differ in one of the first two columns.
    const bool is_new =
        above != nullptr && ((*above)[0] != row[0] || (row.size() > 1 && (*above)[1] != row[1]));
    html += is_new ? "<tr class=\"group\">" : "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      html += cell_html(row[i], table.columns[i].is_right, "td");
    }
    html += "</tr>\n";
    above = &row;
  }
  return html;
}

// The class for the strength of the background: the ratio's distance from 1, in three steps.
std::string shade(const StrategyPair& pair) {
  if (pair.ddp_verdict == stats::Verdict::kNotResolved) return "open";
  const double factor = std::exp(std::abs(std::log(pair.ddp_speed.center)));
  const int step = factor < 1.1 ? 1 : factor < 1.5 ? 2 : 3;
  return fmt::format("{}-{}", pair.ddp_verdict == stats::Verdict::kFaster ? "ddp" : "dp", step);
}

std::string map_cell(const StrategyPair* pair) {
  if (pair == nullptr) return "<td class=\"none\">-</td>";
  std::string interval = speed_interval(*pair);
  if (!interval.empty()) interval = "<small>" + interval + "</small>";
  return fmt::format("<td class=\"{}\">{}{}</td>", shade(*pair), escape_html(winner_text(*pair)),
                     interval);
}

std::string hint_html(const Heading& heading, std::string_view more) {
  std::vector<std::string> parts{std::string(heading.hint), std::string(more),
                                 definition_links_html(heading.id)};
  std::erase(parts, "");
  return parts.empty() ? "" : "<p class=\"hint\">" + join(parts, " ") + "</p>\n";
}

std::string canvas_html(std::string_view id, std::string_view label) {
  return fmt::format(
      "<div class=\"chart\"><canvas id=\"{}\" role=\"img\" aria-label=\"{}\"></canvas></div>", id,
      label);
}

// A place for a chart, with the controls that choose the chart's curves.
std::string charts_html(std::string_view id, const std::string& canvases) {
  return fmt::format(
      "<div class=\"panel\"><div class=\"controls\" id=\"{0}-controls\"></div>{1}"
      "<p class=\"hint\" id=\"{0}-note\" aria-live=\"polite\"></p></div>\n",
      id, canvases);
}

std::string chart_html(std::string_view id, std::string_view label) {
  return charts_html(id, canvas_html(id, label));
}

// The scaling chart of each source; the script writes the question that they share above them.
std::string panels_html(const std::vector<Panel>& panels) {
  std::string html = fmt::format(
      "<h3 id=\"scaling-question\">{}</h3>\n<p class=\"hint\">{}</p>\n<div class=\"sources\">\n",
      kSources.title, kSources.hint);
  for (std::size_t at = 0; at < panels.size(); ++at) {
    const std::string id = at == 0 ? "scaling-chart" : fmt::format("scaling-chart-{}", at + 1);
    html +=
        fmt::format("<div class=\"source\">{}<p class=\"hint\">{}</p></div>\n",
                    canvas_html(id, escape_html(panels[at].title)), escape_html(panels[at].note));
  }
  return charts_html("scaling-chart", html + "</div>\n");
}

// Links to the sections in the markup, by their titles.
std::string contents_html(const std::string& sections) {
  constexpr std::string_view kSection = "<section id=\"";
  constexpr std::string_view kTitle = "-title\">";
  std::string links;
  for (std::size_t at = sections.find(kSection); at != std::string::npos;
       at = sections.find(kSection, at + 1)) {
    const std::size_t id = at + kSection.size();
    const std::size_t title = sections.find(kTitle, sections.find("<h2", at)) + kTitle.size();
    links +=
        fmt::format("<a href=\"#{}\">{}</a>\n", sections.substr(id, sections.find('"', id) - id),
                    sections.substr(title, sections.find('<', title) - title));
  }
  return "<nav aria-label=\"Sections\">\n" + links + "</nav>\n";
}

// The policy keeps a page from fetching anything, should any text slip through the escaping.
constexpr std::string_view kHead =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n";

std::string scripts(const PageData& data) {
  return fmt::format(
      "<script type=\"application/json\" id=\"data\">{}</script>\n<script>\n{}\n</script>\n"
      "<script>\n{}</script>\n<script>\n{}</script>\n<script>\n{}</script>\n"
      "<script>\n{}</script>\n<script>\n{}</script>\n",
      data.json, chart_js(), drawing_js(), saving_js(), scaling_js(), page_js(), tables_js());
}

}  // namespace

std::string escape_html(const std::string& text) {
  std::string escaped = markup_escaped(std::string_view(text).substr(0, kLongestText));
  if (text.size() > kLongestText) escaped += fmt::format(" ... ({} bytes)", text.size());
  return escaped;
}

std::string list_html(std::string_view kind, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string html = fmt::format("<ul class=\"{}\">\n", kind);
  for (const std::string& line : lines) html += "<li>" + escape_html(line) + "</li>\n";
  return html + "</ul>\n";
}

std::string panel_html(const std::vector<std::string>& lines) {
  return "<div class=\"panel\">" + list_html("method", lines) + "</div>\n";
}

std::string folded_html(std::string_view summary, const std::string& body) {
  if (body.empty()) return "";
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", summary, body);
}

std::string section_html(const Heading& heading, const std::string& body, std::string_view more) {
  if (body.empty()) return "";
  return fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}</h2>\n{2}{3}"
      "</section>\n",
      heading.id, heading.title, hint_html(heading, more), body);
}

std::string block_html(const Heading& heading, const std::string& body, std::string_view more) {
  if (body.empty()) return "";
  return fmt::format("<div id=\"{}\" class=\"block\">\n<h3>{}</h3>\n{}{}</div>\n", heading.id,
                     heading.title, hint_html(heading, more), body);
}

std::string table_html(const TextTable& table, std::string_view caption, std::string_view files) {
  if (table.rows.empty()) return "";
  std::string html = fmt::format(
      "<div class=\"panel scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table>\n"
      "<caption class=\"unseen\">{0}</caption>\n<thead><tr>",
      caption);
  for (const TextTable::Column& column : table.columns) {
    html += cell_html(column.title, column.is_right, "th", " scope=\"col\"");
  }
  html += "</tr></thead>\n<tbody>\n" + rows_html(table) + "</tbody></table></div>\n";
  if (table.rows.size() > kMostRows) {
    html += fmt::format("<p class=\"hint cut\">The first {} of {} rows; {} all.</p>\n", kMostRows,
                        table.rows.size(), files);
  }
  return html;
}

std::string map_html(const WinMap& map) {
  std::string html = fmt::format(
      "<div class=\"panel scroll{}\" tabindex=\"0\" role=\"region\" aria-label=\"Who wins on {}\">"
      "<table class=\"map\">\n<caption>{}</caption>\n<thead><tr><th scope=\"col\">model</th>",
      map.is_modelled ? " modelled" : "", escape_html(map.title), escape_html(map.title));
  for (const std::int64_t batch : map.batches) {
    html += fmt::format("<th scope=\"col\" class=\"right\">batch {}</th>", batch);
  }
  html += "</tr></thead>\n<tbody>\n";
  const std::size_t rows = std::min(map.models.size(), kMostRows);
  for (std::size_t row = 0; row < rows; ++row) {
    html += "<tr><th scope=\"row\">" + escape_html(map.models[row]) + "</th>";
    for (const StrategyPair* pair : map.pairs[row]) html += map_cell(pair);
    html += "</tr>\n";
  }
  return html + "</tbody></table></div>\n";
}

std::string scaling_chart(const std::vector<Panel>& panels, const std::string& above,
                          const std::string& below) {
  const std::string charts = panels.empty()
                                 ? chart_html("scaling-chart", "Scaling curves of all strategies")
                                 : panels_html(panels);
  return section_html(
      kScaling, above + charts + below,
      "Bands are 95 % intervals over launches; a hollow point has none: a single launch, or "
      "launches that scatter so much that the interval is unbounded. Lines join measured points "
      "and "
      "say nothing in between. Dotted: the ideal. Dashed and hollow with \"modelled\" in the name: "
      "holds times that were not measured. A plus sign: an efficiency above 100 %.");
}

std::string phase_picture() {
  return chart_html("phase-chart", "Mean time per phase, stacked, by strategy") +
         "<p class=\"hint\">Mean step by phase, with its 95 % interval; the table below has "
         "medians. Bars that name no other program are Tandem's. Blue and grey are work that one "
         "device has too; warm colours and violet are what parallelism adds.</p>\n";
}

std::string memory_chart(const std::string& below) {
  return block_html(kMemory,
                    chart_html("memory-chart", "Peak memory per device, by strategy") + below);
}

std::string wire_chart(const std::string& below) {
  return block_html(
      kCollectives,
      chart_html("wire-chart", "Bus bandwidth over message size, a point per bucket") + below);
}

std::string bucket_chart(const std::string& below) {
  return block_html(kBucketSizes,
                    chart_html("bucket-chart", "Median step over bucket size") + below,
                    "The right-most point may be one bucket for all gradients.");
}

std::string forest_chart(const PageData& data) {
  if (data.comparisons == 0) return "";
  std::string html = chart_html("forest", "Speed of ddp over speed of dp, with intervals");
  if (data.shown_comparisons < data.comparisons) {
    html += fmt::format(
        "<p class=\"hint cut\">The chart has {} of {} comparisons, those on the most "
        "devices.</p>\n",
        data.shown_comparisons, data.comparisons);
  }
  return html;
}

std::string sample_chart(const PageData& data) {
  if (data.shown_samples == 0) return "";
  std::string hint =
      "A point per timed step, in the order in which they ran, launch beside launch: two clouds "
      "are two modes, a slope is drift.";
  if (data.shown_samples < data.samples) {
    hint += fmt::format(
        " This page holds {} of {} step times, evenly taken from {} cells; results.json has all.",
        data.shown_samples, data.samples, data.cells_with_samples);
  }
  return block_html(kSamples, chart_html("sample-chart", "Step time of each sample, by launch"),
                    hint);
}

std::string page_html(const std::string& title, const std::string& header,
                      const std::string& content, const PageData& data) {
  const std::string sections = content + section_html(kFigures, definitions_html(content));
  std::string html{kHead};
  html += "<title>" + escape_html(title) + "</title>\n<style>\n";
  html += page_css();
  html += "</style>\n</head>\n<body>\n<main>\n" + header + contents_html(sections);
  html +=
      "<noscript><p class=\"hint\">The charts need JavaScript; all their figures are in the "
      "tables.</p></noscript>\n";
  html += sections +
          "<footer>Charts by Chart.js (MIT licence), inlined. This page loads nothing.</footer>\n"
          "</main>\n" +
          scripts(data) + "</body>\n</html>\n";
  return html;
}

}  // namespace tandem::reports
