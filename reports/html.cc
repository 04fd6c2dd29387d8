// SPDX-License-Identifier: Apache-2.0
#include "reports/html.h"

#include <fmt/format.h>

#include <array>
#include <string_view>
#include <utility>

#include "reports/embedded.h"
#include "reports/html_parts.h"
#include "reports/page_data.h"
#include "reports/page_sections.h"

namespace tandem::reports {
namespace {

// Should anything slip through the escaping: nothing is fetched, whatever the page says.
constexpr std::string_view kHead =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n";

// Links to the sections that are there.
std::string contents(const std::string& sections) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 7> kSections{
      {{"advice", "What to do"},
       {"scaling", "Scaling"},
       {"gap", "The gap"},
       {"map", "Break-even map"},
       {"details", "Behind the steps"},
       {"normal", "Is this normal?"},
       {"trust", "Trust"}}};
  std::string links;
  for (const auto& [id, title] : kSections) {
    if (sections.find(fmt::format("<section id=\"{}\"", id)) == std::string::npos) continue;
    links += fmt::format("<a href=\"#{}\">{}</a>\n", id, title);
  }
  return "<nav aria-label=\"Sections\">\n" + links + "</nav>\n";
}

std::string scripts(const PageData& data) {
  return fmt::format(
      "<script type=\"application/json\" id=\"data\">{}</script>\n<script>\n{}\n</script>\n"
      "<script>\n{}</script>\n<script>\n{}</script>\n<script>\n{}</script>\n",
      data.json, chart_js(), drawing_js(), scaling_js(), page_js());
}

}  // namespace

std::string to_html(const Report& report) {
  const PageData data = page_data(report);
  const std::string sections = advice_section(report) + scaling_section(report) +
                               gap_section(report) + map_section(report, data) +
                               detail_section(report, data) + published_section(report) +
                               trust_section(report);
  std::string html{kHead};
  html += "<title>dp against ddp: " + escape_html(report.verdict.subject) + "</title>\n<style>\n";
  html += page_css();
  html += "</style>\n</head>\n<body>\n<main>\n" + verdict_section(report) + contents(sections);
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
