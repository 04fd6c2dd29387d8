// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "tools/tandem/report/compare_command.h"
#include "tools/tandem/report/report_command.h"
#include "tools/tandem/verbs/verb.h"

namespace tandem::cli {
namespace {

constexpr const char* kSource = "folders of tandem run, journal.jsonl or results.json";

void add_report(CLI::App& app, Verbs& verbs) {
  const auto options = std::make_shared<ReportOptions>();
  CLI::App& report = add_command(
      app, {.name = "report",
            .what = "write the page, Markdown and tables of a run\n"
                    "results.json, report.html, report.md and *.csv. Projections of the same "
                    "question stand beside the measured run, in panels of their own.",
            .examples = "  tandem report out/quick-1\n"
                        "  tandem report out/quick-1 out/project-1"});
  report.add_option("SOURCE", options->sources, kSource)->required();
  report
      .add_option(
          "--figures", options->figures,
          "a file that collective_bench or another program wrote with --benchmark_out, to be "
          "listed as well; may be given again")
      ->type_name("FILE")
      ->allow_extra_args(false);
  report
      .add_option("--out", options->out,
                  "folder for the report; default: that of the source, of several out/report-1")
      ->type_name("FOLDER");
  add_details(report, options->has_details);
  verbs.push_back({&report, [options](const Call&) { return write_report(*options); }});
}

void add_compare(CLI::App& app, Verbs& verbs) {
  const auto options = std::make_shared<CompareOptions>();
  CLI::App& compare = add_command(
      app,
      {.name = "compare",
       .what = "say which cells became faster or slower from A to B\n"
               "Each cell is FASTER, SLOWER, SAME, NOT SLOWER or UNSURE, by intervals that hold "
               "together.",
       .examples = "  tandem compare out/before out/after\n"
                   "  tandem compare baseline out/now --threshold=5% "
                   "--fail-on=slower,missing,failed",
       .more = "Exit status: 0 as wanted, 3 a cell is what --fail-on names, 1 the answer could "
               "not be written, 2 wrong usage or nothing to compare."});
  compare
      .add_option("A", options->before, "before: a folder of tandem run, journal or results.json")
      ->required();
  compare.add_option("B", options->after, "after: the same")->required();
  compare.add_option("--threshold", options->threshold, "a change below it does not matter")
      ->type_name("PERCENT")
      ->capture_default_str();
  compare
      .add_option("--between-runs", options->between_runs,
                  "the standard deviation between runs as a whole on this machine, which widens "
                  "every interval; docs/method/statistics.md says how to measure it")
      ->type_name("PERCENT")
      ->capture_default_str();
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
  add_details(compare, options->has_details);
  verbs.push_back({&compare, [options](const Call&) { return compare_runs(*options); }});
}

}  // namespace

void add_reading_verbs(CLI::App& app, Verbs& verbs) {
  add_report(app, verbs);
  add_compare(app, verbs);
}

}  // namespace tandem::cli
