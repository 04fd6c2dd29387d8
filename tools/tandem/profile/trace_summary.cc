// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/profile/trace_summary.h"

#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "common/base/error.h"
#include "common/base/input_file.h"
#include "common/timeline/picture.h"
#include "common/timeline/step_view.h"
#include "common/timeline/summary.h"
#include "common/timeline/trace_json.h"

namespace tandem::cli {

namespace {

constexpr std::string_view kStep = "--step=";

int number_in(std::string_view word) {
  const std::string_view digits = word.substr(kStep.size());
  const int number = parse_number<int>(digits).value_or(0);
  if (number > 0) return number;
  fail(ErrorKind::kUsage, "profile picture: --step is '{}', not the number of a step, from 1",
       digits);
}

// Throws a usage error where the file is no trace of step_bench --trace, or no step of the trace
// has ended.
timeline::Trace read_trace(const std::filesystem::path& file) {
  const std::string text = read_whole({.path = file, .begins = "reading trace ", .most = gib(4)});
  timeline::Trace trace = timeline::parse_trace(text, file.string());
  if (timeline::steps_of(trace).empty()) {
    fail(ErrorKind::kUsage,
         "{}: no step of it has ended, so that there is nothing to say: record it "
         "again",
         file.string());
  }
  return trace;
}

}  // namespace

int run_trace_picture(const std::vector<std::string>& words) {
  std::optional<int> step;
  std::vector<std::string> files;
  for (const std::string& word : words) {
    if (word.starts_with(kStep)) {
      step = number_in(word);
    } else {
      files.push_back(word);
    }
  }
  if (files.size() != 1 || files.front().starts_with("-")) {
    fail(ErrorKind::kUsage,
         "profile picture: name one trace, such as out/profile-1/trace.json, and no option but "
         "--step=NUMBER");
  }
  const timeline::Trace trace = read_trace(files.front());
  fmt::print("{}", timeline::to_svg(trace, step ? *step : timeline::median_step(trace)));
  return 0;
}

void print_summary(const std::filesystem::path& file) {
  const timeline::Trace trace = read_trace(file);
  fmt::print("{}", timeline::to_text(trace, timeline::summary_of(trace)));
}

int run_trace_summary(const std::vector<std::string>& words) {
  std::vector<std::string> files = words;
  const bool as_json = std::erase(files, "--json") > 0;
  if (files.size() != 1 || files.front().starts_with("-")) {
    fail(ErrorKind::kUsage,
         "profile summary: name one trace, such as out/profile-1/trace.json, and no option but "
         "--json");
  }
  if (!as_json) {
    print_summary(files.front());
    return 0;
  }
  fmt::print("{}", timeline::to_json(timeline::summary_of(read_trace(files.front()))));
  return 0;
}

}  // namespace tandem::cli
