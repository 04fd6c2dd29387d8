// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/report/compare_command.h"

#include <fmt/format.h>

#include <exception>
#include <filesystem>
#include <vector>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/results/document.h"
#include "common/results/files.h"
#include "reports/model/subject.h"
#include "reports/model/summary.h"
#include "reports/render/change.h"
#include "tools/tandem/report/source_document.h"

namespace tandem::cli {
namespace {

using reports::DocumentChange;
using reports::Summary;
using results::Document;

double percentage_from(const std::string& text, std::string_view option) {
  const std::size_t digits = text.ends_with('%') ? text.size() - 1 : 0;
  const auto percent = parse_number<double>(text.substr(0, digits));
  if (percent && *percent >= 0 && *percent <= 100) return *percent / 100;
  fail(ErrorKind::kUsage, "{} is '{}': give a percentage from 0% to 100%, such as 3%", option,
       text);
}

std::string heading(const char* letter, const std::string& source, const Document& document,
                    const Summary& summary) {
  const std::string& date = document.sweep.context.date;
  return fmt::format("{}  {}{}{}: {}.\n", letter, source, date.empty() ? "" : ", ", date,
                     reports::subject(document, summary));
}

struct Answer {
  std::string text;
  std::string json;
  bool is_slower = false;
};

Answer compare(const CompareOptions& options) {
  const reports::ChangeRule rule = rule_of(options.rule);
  const Document before = load_document(options.before);
  const Document after = load_document(options.after);
  const Summary before_summary = reports::summarize(before);
  const Summary after_summary = reports::summarize(after);
  const DocumentChange changes =
      reports::compare_documents(before, before_summary, after, after_summary, rule);
  if (changes.cells.empty()) {
    fail(ErrorKind::kUsage,
         "comparing {} with {}: no cell was measured in both; give two runs of one sweep",
         options.before, options.after);
  }
  return {.text = heading("A", options.before, before, before_summary) +
                  heading("B", options.after, after, after_summary) + "\n" +
                  reports::to_text(changes),
          .json = options.json.empty() ? "" : reports::to_json(changes),
          .is_slower = changes.count(stats::Change::kSlower) > 0};
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

}  // namespace

reports::ChangeRule rule_of(const RuleOptions& options) {
  return {.threshold = percentage_from(options.threshold, "--threshold"),
          .between_runs = percentage_from(options.between_runs, "--between-runs")};
}

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
  return answer.is_slower ? 1 : 0;
}

}  // namespace tandem::cli
