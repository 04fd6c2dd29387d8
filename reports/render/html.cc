// SPDX-License-Identifier: Apache-2.0
#include "reports/render/html.h"

#include <fmt/format.h>

#include <vector>

#include "reports/render/html_parts.h"
#include "reports/render/page_data.h"
#include "reports/render/page_sections.h"
#include "reports/render/side_page.h"
#include "reports/text/format.h"

namespace tandem::reports {

namespace {

// The policy keeps a page from fetching anything, should any text slip through the escaping.
constexpr std::string_view kHead =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n";

std::string scripts(const PageData& data) {
  return fmt::format(
      "<script type=\"application/json\" id=\"data\">{}</script>\n<script>\n{}\n</script>\n"
      "<script>\n{}</script>\n<script>\n{}</script>\n<script>\n{}</script>\n",
      data.json, chart_js(), drawing_js(), scaling_js(), page_js());
}

// The page around its header and sections.
std::string page(const std::string& title, const std::string& header, const std::string& sections,
                 const PageData& data) {
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

}  // namespace

std::string to_html(const Report& report) {
  const PageData data = page_data(report);
  const std::string sections = advice_section(report) + scaling_section(report) +
                               gap_section(report) + map_section(report, data) +
                               detail_section(report, data) + published_section(report) +
                               trust_section(report);
  return page("dp against ddp: " + report.verdict.subject, verdict_section(report), sections, data);
}

std::string to_html(const SideBySide& side) {
  std::vector<PageSource> sources;
  for (std::size_t i = 0; i < side.size(); ++i) {
    sources.push_back({.report = &side.reports[i], .letter = letter(i)});
  }
  const PageData data = page_data(sources);
  return page("Side by side: " + join(side.names, ", "), side_header(side),
              side_sections(side, data), data);
}

}  // namespace tandem::reports
