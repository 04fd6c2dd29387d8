// SPDX-License-Identifier: Apache-2.0
//
// `tandem compare`.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <exception>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "common/base/error.h"
#include "common/base/known_names.h"
#include "common/base/lines.h"
#include "common/base/text.h"
#include "common/base/units.h"
#include "common/results/document.h"
#include "common/results/files.h"
#include "reports/model/document_change.h"
#include "reports/model/subject.h"
#include "reports/model/summary.h"
#include "reports/render/formats.h"
#include "tools/tandem/report/source_document.h"
#include "tools/tandem/verbs/verb.h"

namespace tandem::cli {
namespace {

using reports::DocumentChange;
using reports::Summary;
using results::Document;

struct CompareOptions {
  std::string before;  // folder of `tandem run`, journal or results document
  std::string after;
  std::string threshold = "3%";  // percentages from 0 to 100, as the user wrote them
  std::string between_runs = "0%";
  std::string json;                       // file for the changes; empty: none
  std::string fail_on = "slower,failed";  // of slower, unsure, missing and failed; or none
  bool has_details = false;
};

std::string heading(const std::string& name, const Document& document, const Summary& summary) {
  const std::string& date = document.sweep.context.date;
  return fmt::format("{}{}{}: {}.", name, date.empty() ? "" : ", ", date,
                     reports::subject(document, summary));
}

// The words of --fail-on, and the number of cells of each.
struct Cause {
  std::string_view name;
  int (*count)(const DocumentChange& changes);
};

constexpr auto kCauses = std::to_array<Cause>({
    {"slower", [](const DocumentChange& changes) { return changes.count(stats::Change::kSlower); }},
    {"unsure", [](const DocumentChange& changes) { return changes.count(stats::Change::kUnsure); }},
    {"missing", [](const DocumentChange& changes) { return changes.count_missing(); }},
    {"failed", [](const DocumentChange& changes) { return changes.count_failed(); }},
});

std::vector<Cause> causes_of(const std::string& text) {
  std::vector<Cause> causes;
  if (text == "none") return causes;
  for (const std::string_view name : split(text, ',')) {
    const auto found = std::ranges::find(kCauses, name, &Cause::name);
    if (name == "none") fail(ErrorKind::kUsage, "--fail-on: 'none' stands alone: {}", text);
    if (found == kCauses.end()) {
      std::vector<std::string_view> known;
      for (const Cause& cause : kCauses) known.push_back(cause.name);
      fail(ErrorKind::kUsage, "--fail-on: '{}' is unknown{}; use some of {}, or none", name,
           did_you_mean(name, known), fmt::join(known, ","));
    }
    causes.push_back(*found);
  }
  return causes;
}

// The remarks on B against A, and whether a cell is what --fail-on names.
struct Answer {
  std::string text;
  bool is_bad = false;
  std::string json{};
};

// "B fails: 1 cell slower, 2 cells failed."; empty where nothing is to fail on.
std::string verdict(const DocumentChange& changes, const std::vector<Cause>& causes) {
  std::vector<std::string> found;
  for (const Cause& cause : causes) {
    const int count = cause.count(changes);
    if (count > 0) found.push_back(fmt::format("{} {}", count_text(count, "cell"), cause.name));
  }
  return found.empty() ? "" : fmt::format("B fails: {}.", fmt::join(found, ", "));
}

Answer compare(const CompareOptions& options) {
  const reports::ChangeRule rule{
      .threshold = parse_percentage(options.threshold, "--threshold"),
      .between_runs = parse_percentage(options.between_runs, "--between-runs")};
  const std::vector<Cause> causes = causes_of(options.fail_on);  // refused before anything is read
  const std::vector<Document> documents{load_document(options.before),
                                        load_document(options.after)};
  const Document& before = documents.front();
  const Document& after = documents.back();
  check_same_kind(options.before, before, options.after, after);
  check_distinct({options.before, options.after}, documents);
  const Summary before_summary = reports::summarize(before);
  const Summary after_summary = reports::summarize(after);
  const DocumentChange changes =
      reports::compare_documents(before, before_summary, after, after_summary, rule);
  if (changes.cells.empty() && changes.count_failed() == 0) {
    fail(ErrorKind::kUsage,
         "comparing {} with {}: no cell was measured in both; give two runs of one sweep",
         options.before, options.after);
  }
  const std::string bad = verdict(changes, causes);
  const reports::Screen there = reports::screen(options.has_details);
  return {.text = to_lines(heading(options.before, before, before_summary), there.columns, "A  ") +
                  to_lines(heading(options.after, after, after_summary), there.columns, "B  ") +
                  reports::to_terminal(changes, there) +
                  (bad.empty() ? "" : to_lines(bad, there.columns)),
          .is_bad = !bad.empty(),
          .json = options.json.empty() ? "" : reports::to_json(changes)};
}

// A run's results.json is protected too where its journal is read instead.
void check_output(const CompareOptions& options) {
  if (options.json.empty()) return;
  std::vector<std::filesystem::path> inputs;
  for (const std::string& source : {options.before, options.after}) {
    inputs.push_back(file_in(source));
    const std::filesystem::path folder = inputs.back().parent_path();
    inputs.push_back(folder / "journal.jsonl");
    inputs.push_back(folder / "results.json");
  }
  results::check_is_no_input(options.json, "--json", inputs);
}

// Prints which cells became faster or slower from A to B. Returns 0, or kVerdictExit where a cell
// is what --fail-on names. Throws a usage error where A and B cannot be compared or read.
int compare_runs(const CompareOptions& options) {
  const Answer answer = [&] {
    try {
      check_output(options);
      return compare(options);
    } catch (const std::exception& error) {
      throw Error(ErrorKind::kUsage, error.what());
    }
  }();
  if (!options.json.empty()) results::replace_file(options.json, answer.json);
  fmt::print("{}", answer.text);
  return answer.is_bad ? kVerdictExit : 0;
}

}  // namespace

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
  add_usual(compare, "--threshold PERCENT", options->threshold,
            "a change below it does not matter");
  add_usual(compare, "--between-runs PERCENT", options->between_runs,
            "the standard deviation between runs as a whole on this machine, which widens "
            "every interval; docs/method/statistics.md says how to measure it");
  add_usual(compare, "--fail-on LIST", options->fail_on,
            "end with 3 where B has a cell that is slower, unsure, missing (A measured it, B "
            "does not have it) or failed (a launch failed in B, or B skipped what A measured); "
            "none: never");
  add(compare, "--json FILE", options->json, "write the whole answer to this file as well");
  add_details(compare, options->has_details);
  verbs.push_back({&compare, [options](const Call&) { return compare_runs(*options); }});
}

}  // namespace tandem::cli
