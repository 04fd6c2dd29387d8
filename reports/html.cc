// SPDX-License-Identifier: Apache-2.0
#include "reports/html.h"

#include <fmt/format.h>

#include <string_view>

#include "reports/cell_table.h"
#include "reports/collectives.h"
#include "reports/ddp_cost.h"
#include "reports/dropped.h"
#include "reports/embedded.h"
#include "reports/format.h"
#include "reports/link_table.h"
#include "reports/other_figures.h"
#include "reports/page_data.h"
#include "reports/twin_table.h"
#include "reports/two_by_two.h"

namespace tandem::reports {
namespace {

// Should anything slip through the escaping: nothing is fetched, whatever the page says.
constexpr std::string_view kHead =
    "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n";

std::string list(std::string_view kind, const std::vector<std::string>& lines) {
  if (lines.empty()) return "";
  std::string html = fmt::format("<ul class=\"{}\">\n", kind);
  for (const std::string& line : lines) html += "<li>" + escape_html(line) + "</li>\n";
  return html + "</ul>\n";
}

std::string section(std::string_view title, std::string_view hint, const std::string& body) {
  if (body.empty()) return "";
  return fmt::format("<section>\n<h2>{}</h2>\n<p class=\"hint\">{}</p>\n{}</section>\n", title,
                     hint, body);
}

std::string cell_html(const std::string& text, Table::Align align, std::string_view element) {
  const std::string_view side = align == Table::Align::kRight ? " class=\"right\"" : "";
  return fmt::format("<{0}{1}>{2}</{0}>", element, side, escape_html(text));
}

// A rule stands between workloads: where one of the first two columns changes.
std::string table_html(const Table& table) {
  if (table.rows.empty()) return "";
  std::string html = "<div class=\"panel scroll\"><table>\n<thead><tr>";
  for (const Table::Column& column : table.columns) {
    html += cell_html(column.title, column.align, "th");
  }
  html += "</tr></thead>\n<tbody>\n";
  const std::vector<std::string>* above = nullptr;
  for (const std::vector<std::string>& row : table.rows) {
    const bool is_new =
        above != nullptr && ((*above)[0] != row[0] || (row.size() > 1 && (*above)[1] != row[1]));
    html += is_new ? "<tr class=\"group\">" : "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      html += cell_html(row[i], table.columns[i].align, "td");
    }
    html += "</tr>\n";
    above = &row;
  }
  return html + "</tbody></table></div>\n";
}

std::string canvas(std::string_view name, std::size_t index, const std::string& what) {
  return fmt::format(
      "<div class=\"chart\"><canvas id=\"{}-{}\" role=\"img\" aria-label=\"{}\"></canvas></div>\n",
      name, index, escape_html(what));
}

std::string curves(const std::vector<ChartGroup>& groups) {
  std::string html;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    html += "<div class=\"panel\"><h3>" + escape_html(groups[i].title) +
            "</h3><div class=\"pair\">\n" +
            canvas("throughput", i, "Throughput over devices, " + groups[i].title);
    if (groups[i].has_speedups()) {
      html += canvas("speedup", i, "Speed-up over devices, " + groups[i].title);
    }
    html += "</div>";
    if (!groups[i].has_speedups()) {
      html +=
          "<p class=\"hint\">No baseline: single was not measured here, so that there is no "
          "speed-up.</p>";
    }
    html += "</div>\n";
  }
  return html;
}

std::string phase_bars(const std::vector<ChartGroup>& groups) {
  std::string html;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (!groups[i].has_phases()) continue;
    html += "<div class=\"panel\"><h3>" + escape_html(groups[i].title) + "</h3>\n" +
            canvas("phases", i, "Mean phase times, " + groups[i].title) + "</div>\n";
  }
  return html;
}

std::string machine_html(const Report& report) {
  std::string html = "<div class=\"panel\"><dl>\n";
  for (const auto& [name, value] : machine_lines(report)) {
    html += "<dt>" + escape_html(name) + "</dt><dd>" + escape_html(value) + "</dd>\n";
  }
  return html + "</dl></div>\n";
}

std::string links_section(const results::SweepInfo& sweep) {
  if (!sweep.links) return "";
  const std::string note = "<p class=\"hint\">" + escape_html(link_note(*sweep.links)) + "</p>\n";
  return section(kLinksTitle, "", table_html(link_table(*sweep.links)) + note);
}

std::string forest(const Summary& summary) {
  if (summary.comparisons.empty()) return "";
  return "<div class=\"panel\"><div class=\"chart\"><canvas id=\"forest\" role=\"img\" "
         "aria-label=\"Speed of ddp over speed of dp\"></canvas></div></div>\n" +
         table_html(comparison_table(summary));
}

// Two choices at one point, and the ratios of either.
std::string corners_section(const Summary& summary) {
  const std::string table = table_html(two_by_two_table(summary));
  if (table.empty()) return "";
  return section(
      "Algorithm against launch",
      "Median steps where the weights are sent and gradients summed on device 0 at "
      "every step, and where they are all-reduced, each in threads of one process and "
      "in a process per device; ratios of launch medians with 95 % intervals, above 1 "
      "where what is named first is faster.",
      table + fmt::format("<p class=\"hint\">{}</p>\n", escape_html(two_by_two_note(summary))));
}

std::string cost_section(const Summary& summary) {
  return section(kDdpCostTitle, kDdpCostNote, table_html(ddp_cost_table(summary)));
}

std::string twin_section(const Summary& summary) {
  return section(kTwinTitle, kTwinNote, table_html(twin_table(summary)));
}

// A model may have a hundred buckets: they are folded away.
std::string collectives_section(const Summary& summary) {
  const std::string table = table_html(collective_table(summary));
  if (table.empty()) return "";
  return section("Gradient collectives", kCollectivesNote,
                 fmt::format("{}<details><summary>Each bucket</summary>\n{}</details>\n", table,
                             table_html(bucket_table(summary))));
}

std::string chart_sections(const Report& report, const std::vector<ChartGroup>& groups) {
  return section("Throughput and speed-up over devices",
                 "Samples per second = global batch / mean step; speed-up = median step of single "
                 "/ own median step, both at the same global batch. Whiskers are 95 % intervals "
                 "over launches, with an arrow where one leaves the frame. A hollow point has "
                 "none: a single launch, or launches that scatter so much that the interval is "
                 "unbounded; a cross stands for an efficiency above 100 %. Lines join measured "
                 "device counts and say nothing in between.",
                 curves(groups)) +
         section("Why: where the step goes",
                 "Mean time per phase on the critical device (dp: the root; ddp: slowest rank). "
                 "Blue and grey are work that one device has too: blue forward, loss and "
                 "backward, grey input and the update of the parameters. Warm "
                 "colours and violet are what parallelism adds; the darkest grey is the "
                 "remainder, time of the step that is in no phase.",
                 phase_bars(groups) + table_html(phase_table(report.summary)));
}

std::string forest_section(const Summary& summary) {
  return section("ddp against dp",
                 "Ratio of launch medians with its 95 % interval. Right of the line ddp is "
                 "faster, left of it dp; an interval that touches the line resolves nothing. An "
                 "arrow is an interval that leaves the frame, a hollow point one without an "
                 "interval.",
                 forest(summary));
}

std::string verdict_html(const Report& report) {
  const VerdictText& verdict = report.verdict;
  const results::SweepInfo& sweep = report.document.sweep;
  return fmt::format(
      "<header>\n<p class=\"eyebrow\">Tandem &middot; sweep {} &middot; {}</p>\n<h1>{}</h1>\n"
      "<p class=\"overall\">{}</p>\n{}{}</header>\n",
      escape_html(sweep.name), escape_html(sweep.context.date), escape_html(verdict.subject),
      escape_html(verdict.overall), list("verdict", verdict.workloads),
      list("notes", verdict.notes));
}

std::string scripts(const Report& report, const std::vector<ChartGroup>& groups) {
  return fmt::format(
      "<script type=\"application/json\" id=\"data\">{}</script>\n<script>\n{}\n</script>\n"
      "<script>\n{}</script>\n",
      page_data(report.summary, groups), chart_js(), page_js());
}

}  // namespace

std::string escape_html(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string to_html(const Report& report) {
  const std::vector<ChartGroup> groups = chart_groups(report.summary);
  std::string html{kHead};
  html += "<title>dp against ddp: " + escape_html(report.verdict.subject) + "</title>\n<style>\n";
  html += page_css();
  html += "</style>\n</head>\n<body>\n<main>\n" + verdict_html(report);
  html +=
      "<noscript><p class=\"hint\">The charts need JavaScript; all their figures are in the "
      "tables.</p></noscript>\n";
  html += forest_section(report.summary) + corners_section(report.summary);
  html +=
      twin_section(report.summary) + cost_section(report.summary) + chart_sections(report, groups);
  html += collectives_section(report.summary);
  html += section("All cells", "A dash is a figure that does not exist; the remarks say why.",
                  table_html(cell_table(report.summary)));
  html += section(kDroppedTitle, "Cells that the sweep names and that were left out, and why.",
                  table_html(dropped_table(report.document.sweep)));
  html += section(kOtherFiguresTitle, "Entries of other programs, each from a run of its own.",
                  table_html(other_figures_table(report.document)));
  html += section("Machine", "As the launches saw it.", machine_html(report));
  html += links_section(report.document.sweep);
  html += section("Method", "",
                  "<div class=\"panel\">" + list("method", method_lines(report)) + "</div>");
  html +=
      "<footer>Charts by Chart.js (MIT licence), inlined. This page loads nothing.</footer>\n"
      "</main>\n" +
      scripts(report, groups) + "</body>\n</html>\n";
  return html;
}

}  // namespace tandem::reports
