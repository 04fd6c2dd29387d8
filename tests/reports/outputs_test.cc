// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "reports/answer/report.h"
#include "reports/render/csv.h"
#include "reports/render/formats.h"
#include "reports/tables/cells.h"
#include "reports/text/table.h"
#include "tests/reports/cost_samples.h"
#include "tests/reports/synthetic.h"
#include "tests/reports/whole_text.h"

namespace tandem::reports {
namespace {

using results::Status;

Synthetic full() {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.08, 0.081}).add("dp", 2, {0.06, 0.061});
  synthetic.add("ddp", 2, {0.05, 0.051});
  synthetic.add_without_time("ddp", 1, Status::kFailed, "it said \"no\", then\nended");
  for (auto& record : synthetic.document().launches) {
    if (record.status != Status::kOk) continue;
    record.phases = {{.device = 0,
                      .mean_seconds = {{"forward", 0.01}, {"backward", 0.02}},
                      .span_seconds = 0.03}};
    record.critical = record.phases.front();
  }
  return synthetic;
}

std::string html_of(Synthetic synthetic) { return to_html(make_report(synthetic.document())); }

// The page without its embedded library, whose comments name its home page.
std::string own_html(Synthetic synthetic) {
  std::string html = html_of(std::move(synthetic));
  html.erase(html.find(chart_js()), chart_js().size());
  return html;
}

bool output_has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Html, LoadsNothing) {
  const std::string html = html_of(full());
  for (const char* loader : {"<link", "<img", "<iframe", " src=", "@import"}) {
    EXPECT_FALSE(output_has(own_html(full()), loader)) << loader;
  }
  const std::string own = own_html(full());
  for (std::size_t at = own.find("url("); at != std::string::npos; at = own.find("url(", at + 1)) {
    EXPECT_EQ(own.substr(at, 5), "url(#");  // what clips a chart that is saved
  }
  for (std::size_t at = own.find("href="); at != std::string::npos;
       at = own.find("href=", at + 1)) {
    EXPECT_EQ(own.substr(at, 7), "href=\"#");  // to a place of the page itself
  }
  EXPECT_TRUE(output_has(html, "default-src 'none'"));
  EXPECT_FALSE(output_has(own_html(full()), "://"));
}

TEST(OtherFigures, StandInPageAndText_OrSayWhyNot) {
  Synthetic synthetic = full();
  synthetic.document().others = {
      {.source = "peers",
       .json =
           R"({"name": "copy/<b>", "real_time": 2.5, "time_unit": "us", "GBps": 21.5, "p50_us": 3})"},
      {.source = "peers", .json = R"({"name": "copy/c", "error_message": "skipped: no room"})"}};
  const Report report = make_report(synthetic.document());
  const std::string text = to_markdown(report);
  EXPECT_TRUE(output_has(text, "Measured beside the steps"));
  EXPECT_TRUE(output_has(text, "2.5 us | GBps 21.5, p50"));
  EXPECT_TRUE(output_has(text, "skipped: no room"));
  const std::string html = to_html(report);
  EXPECT_TRUE(output_has(html, "copy/&lt;b&gt;"));
  EXPECT_FALSE(output_has(html, "copy/<b>"));
  EXPECT_FALSE(output_has(html_of(full()), "Measured beside the steps"));
}

TEST(Html, ForeignText_IsEscapedEverywhere) {
  Synthetic synthetic = full();
  const std::string attack = "</script><script>alert('x')</script>\"onload=\"y";
  for (auto& record : synthetic.document().launches) {
    record.machine.host_name = attack;
    record.machine.cpu_model = attack;
    record.cell.model = attack;
    record.reason = attack;
    record.machine.libraries = {{attack, attack}};
  }
  synthetic.document().sweep.name = attack;
  synthetic.document().sweep.context.date = attack;
  const std::string html = own_html(synthetic);
  EXPECT_FALSE(output_has(html, attack));
  EXPECT_FALSE(output_has(html, "<script>alert"));
  EXPECT_FALSE(output_has(html, "\"onload=\"y"));
  EXPECT_TRUE(output_has(html, "&lt;script&gt;alert(&#39;x&#39;)"));
  EXPECT_TRUE(output_has(html, "\\u003c/script>"));  // inside the charts' figures
}

TEST(Html, VerdictComesBeforeChartsAndTables) {
  const std::string html = own_html(full());
  const std::size_t verdict = html.find("CPU only: 2 cores of Test CPU", html.find("<body>"));
  EXPECT_LT(verdict, html.find("<canvas"));
  EXPECT_LT(verdict, html.find("<table"));
}

TEST(Html, NothingMeasured_StillIsAPage) {
  Synthetic synthetic;
  synthetic.add_without_time("dp", 2, Status::kFailed, "lost");
  EXPECT_TRUE(output_has(own_html(synthetic), "Nothing was measured"));
  EXPECT_TRUE(output_has(own_html(synthetic), "failed: lost"));
}

TEST(Csv, Columns_AreIndependentVariablesThenFigures) {
  Synthetic synthetic = full();
  const std::string csv = to_csv(summarize(synthetic.document()));
  EXPECT_TRUE(csv.starts_with("model,global_batch,devices,strategy,launch,backend,mode,options,"));
  EXPECT_TRUE(output_has(csv, "\nmlp-small,64,2,ddp,processes,host,synchronous,,ok,,"));
  const std::string header = csv.substr(0, csv.find('\n'));
  const std::string last = csv.substr(csv.rfind('\n', csv.size() - 2) + 1);
  EXPECT_EQ(std::count(header.begin(), header.end(), ','),
            std::count(last.begin(), last.end(), ','));
}

TEST(Csv, AbsentFigures_AreEmpty_AndTextIsQuoted) {
  Synthetic synthetic = full();
  const std::string csv = to_csv(summarize(synthetic.document()));
  EXPECT_TRUE(output_has(csv, "failed,\"it said \"\"no\"\", then\nended\",,0,1,0,,,,"));
}

Synthetic scattered() {
  Synthetic synthetic;
  synthetic.add("single", 1, {0.01, 0.1});  // mean 0.055 s -+ 0.57 s
  return synthetic;
}

TEST(Csv, LowEndBelowZero_IsEmpty) {
  Synthetic synthetic = scattered();
  const std::string csv = to_csv(summarize(synthetic.document()));
  EXPECT_TRUE(output_has(csv, ",,0.62")) << csv;
  EXPECT_FALSE(output_has(csv, "-0.")) << csv;
}

TEST(Html, UnboundedInterval_IsSaidInTableAndChart) {
  const std::string html = own_html(scattered());
  EXPECT_TRUE(output_has(html, "[interval unbounded]"));
  EXPECT_TRUE(output_has(html, "null,null,\"unbounded\"]"));
}

TEST(Machine, FactsAreReadable_AndSaidOnce) {
  Synthetic synthetic = full();
  synthetic.document().sweep.context.custom = {{"tandem_cores", "2"}, {"tandem_version", "9.9"}};
  synthetic.document().launches[0].machine.ping_pong_ns = 97.2;
  synthetic.document().launches[1].machine.ping_pong_ns = 48.9;
  const std::string html = own_html(synthetic);
  EXPECT_FALSE(output_has(html, "tandem_"));
  EXPECT_TRUE(output_has(html, "<li>tandem version: 9.9</li>"));
  EXPECT_TRUE(output_has(html, ": 49 to 97 ns over launches</li>"));
}

TEST(Markdown, PipesAndMarkupInText_AreEscaped) {
  EXPECT_EQ(escape_markdown("a|b <i>*c*\nd"), "a\\|b \\<i\\>\\*c\\* d");
}

TEST(Html, CostsAndCollectives_AreSections_WhereThereAreAny) {
  const std::string html = own_html(with_collectives());
  EXPECT_TRUE(output_has(html, "<h3>What ddp costs against the bound"));
  EXPECT_TRUE(output_has(html, "<h3>Gradient collectives</h3>"));
  EXPECT_FALSE(output_has(own_html(full()), "What ddp costs"));
  EXPECT_FALSE(output_has(own_html(full()), "Gradient collectives"));
}

TEST(Terminal, VerdictComesFirst_ThenWhatToDo_ThenTables) {
  Synthetic synthetic = with_collectives();
  const std::string text = whole_text(make_report(synthetic.document()));
  const std::size_t costs = text.find("What ddp costs against the bound");
  ASSERT_NE(costs, std::string::npos);
  EXPECT_TRUE(text.starts_with("CPU only")) << text;
  EXPECT_LT(text.find("What to do"), text.find("All cells"));
  EXPECT_LT(text.find("median step [95 %]"), costs);
  EXPECT_FALSE(output_has(whole_text(make_report(full().document())), "What ddp costs"));
}

// The field of each row below the named column.
std::vector<std::string> column(const std::string& csv, const std::string& name) {
  std::vector<std::string> found;
  std::size_t place = 0;
  for (std::size_t at = 0; at < csv.size(); at = csv.find('\n', at) + 1) {
    const std::string line = csv.substr(at, csv.find('\n', at) - at);
    std::vector<std::string> fields(1);
    for (const char c : line) {
      if (c == ',') {
        fields.emplace_back();
      } else {
        fields.back() += c;
      }
    }
    if (at == 0) {
      place =
          static_cast<std::size_t>(std::find(fields.begin(), fields.end(), name) - fields.begin());
    } else {
      found.push_back(fields.at(place));
    }
  }
  return found;
}

TEST(Csv, DifferenceBelowZero_KeepsItsSign) {
  Synthetic synthetic = ddp_and_independent();
  for (auto& record : synthetic.document().launches) {
    if (record.cell.strategy == "ddp") record.step_seconds.assign(3, 0.014);
  }
  const std::string csv = to_csv(summarize(synthetic.document()));
  EXPECT_NEAR(std::stod(column(csv, "missing_high_s").at(1)), -1e-3, 1e-9);
}

TEST(CellTable, EfficiencyAbove100_IsMarked_WhereTheWholeIntervalIs) {
  Synthetic around;
  around.add("single", 1, {0.10, 0.12}).add("ddp", 2, {0.05, 0.055});
  EXPECT_TRUE(output_has(to_text(cell_table(summarize(around.document()))), "104 %"));
  EXPECT_FALSE(output_has(to_text(cell_table(summarize(around.document()))), "(!)"));
  Synthetic above;
  above.add("single", 1, {0.120, 0.121}).add("ddp", 2, {0.050, 0.0501});
  EXPECT_TRUE(output_has(to_text(cell_table(summarize(above.document()))), "(!)"));
}

TEST(PhaseTable, NegativeRemainder_IsShown_ThoughItsBarIsEmpty) {
  Synthetic synthetic = full();
  for (auto& record : synthetic.document().launches) record.remainder_seconds = -0.002;
  const Summary summary = summarize(synthetic.document());
  EXPECT_TRUE(output_has(to_text(phase_table(summary)), "-2.000 ("));
  const std::string data = page_data(make_report(synthetic.document()));
  EXPECT_TRUE(output_has(data, ",0.0]"));
  EXPECT_FALSE(output_has(data, "-2"));
}

TEST(CellTable, FailedCells_StandInIt) {
  Synthetic synthetic = full();
  const std::string text = to_text(cell_table(summarize(synthetic.document())));
  EXPECT_TRUE(output_has(text, "failed: it said"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2 + 4);  // though a reason has a line end
}

}  // namespace
}  // namespace tandem::reports
