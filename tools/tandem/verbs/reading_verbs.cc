// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "tools/tandem/report/compare_command.h"
#include "tools/tandem/report/report_command.h"
#include "tools/tandem/verbs/verb.h"

namespace tandem::cli {
namespace {

constexpr const char* kSource = "folders of tandem run, journal.jsonl or results.json";

void add_rule(CLI::App& app, RuleOptions& options, const std::string& when) {
  const auto note = [&options](const std::string&) { options.is_given = true; };
  app.add_option("--threshold", options.threshold, when + "a change below it does not matter")
      ->type_name("PERCENT")
      ->each(note)
      ->capture_default_str();
  app.add_option("--between-runs", options.between_runs,
                 when +
                     "the standard deviation between runs as a whole on this machine, which "
                     "widens every interval; docs/method/statistics.md says how to measure it")
      ->type_name("PERCENT")
      ->each(note)
      ->capture_default_str();
}

void add_sources(CLI::App& command, std::vector<std::string>& sources,
                 std::vector<std::string>& figures) {
  command.add_option("SOURCE", sources, kSource)->required();
  command
      .add_option("--figures", figures,
                  "a file that copy_bench or another program wrote with --benchmark_out, to be "
                  "listed as well; may be given again")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

void add_report(CLI::App& app, Verbs& verbs) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App& report = add_command(
      app, {.name = "report",
            .what = "write the page, Markdown and tables of a run, or of several side by side\n"
                    "Of one run: results.json, report.html, report.md and *.csv. Of several: "
                    "report.html and report.md that judge each against the first. Projections "
                    "of the same question stand beside one measured run, in panels of their own.",
            .examples = "  tandem report out/quick-1\n"
                        "  tandem report out/quick-1 out/project-1\n"
                        "  tandem report out/before out/after --out=out/both"});
  add_sources(report, options->sources, options->figures);
  report
      .add_option("--out", options->out,
                  "folder for the report; default: that of the source, of several out/report-1")
      ->type_name("FOLDER");
  add_rule(report, options->rule, "of several sources: ");
  verbs.push_back({&report, [options](const Call&) { return write_report(*options); }});
}

void add_merge(CLI::App& app, Verbs& verbs) {
  const auto options = std::make_shared<MergeOptions>();
  CLI::App& merge = add_command(
      app, {.name = "merge",
            .what = "take parts of one run together, as if they had been one\n"
                    "Launches of one cell count together, which narrows its interval. All parts "
                    "must be of one machine.",
            .examples = "  tandem merge out/quick-1 out/quick-2\n"
                        "  tandem merge out/morning out/evening --out=out/day"});
  add_sources(merge, options->sources, options->figures);
  merge.add_option("--out", options->out, "folder for the report; default: a new one, out/merge-1")
      ->type_name("FOLDER");
  verbs.push_back({&merge, [options](const Call&) { return merge_runs(*options); }});
}

void add_compare(CLI::App& app, Verbs& verbs) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App& compare = add_command(
      app,
      {.name = "compare",
       .what = "say which cells became faster or slower from A to B\n"
               "Each cell is FASTER, SLOWER, SAME or UNSURE, by intervals that hold together.",
       .examples = "  tandem compare out/before out/after\n"
                   "  tandem compare baseline out/now --threshold=5% "
                   "--fail-on=slower,missing,failed",
       .more = "Exit status: 0 as wanted, 3 a cell is what --fail-on names, 1 the answer could "
               "not be written, 2 wrong usage or nothing to compare."});
  compare
      .add_option("A", options->before, "before: a folder of tandem run, journal or results.json")
      ->required();
  compare.add_option("B", options->after, "after: the same")->required();
  add_rule(compare, options->rule, "");
  compare
      .add_option(
          "--fail-on", options->fail_on,
          "end with 3 where B has a cell that is slower, unsure, missing (A measured it, B "
          "does not have it) or failed (a launch failed in B, or B skipped what A measured); "
          "none: never")
      ->type_name("LIST")
      ->capture_default_str();
  compare.add_option("--json", options->json, "write the whole answer to this file as well")
      ->type_name("FILE");
  verbs.push_back({&compare, [options](const Call&) { return compare_runs(*options); }});
}

}  // namespace

void add_reading_verbs(CLI::App& app, Verbs& verbs) {
  add_report(app, verbs);
  add_compare(app, verbs);
  add_merge(app, verbs);
}

}  // namespace tandem::cli
