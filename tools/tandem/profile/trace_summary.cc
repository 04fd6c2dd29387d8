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

// Throws a usage error where the file is no trace of step_bench --trace, or no step of the trace
// has ended.
timeline::Trace read_trace(const std::filesystem::path& file) {
  const std::string text = read_whole({.path = file, .begins = "reading trace ", .most = gib(4)});
  timeline::Trace trace = timeline::parse_trace(text, file.string());
  if (timeline::steps_of(trace).empty()) {
    fail(ErrorKind::kUsage,
         "{}: no step of it has ended, so that there is nothing to say: record it again",
         file.string());
  }
  return trace;
}

// The one file among the words. Throws a usage error, which names the one `option` that there is,
// on any other number of files and on other options.
const std::string& only_file(const std::vector<std::string>& words, std::string_view tool,
                             std::string_view option) {
  if (words.size() == 1 && !words.front().starts_with("-")) return words.front();
  fail(ErrorKind::kUsage,
       "profile {}: name one trace, such as out/profile-1/trace.json, and no option but {}", tool,
       option);
}

}  // namespace

int run_trace_picture(std::vector<std::string> words) {
  std::optional<int> step;
  for (const std::string& word : words) {
    if (!word.starts_with(kStep)) continue;
    const std::string number = word.substr(kStep.size());
    step = parse_number<int>(number).value_or(0);
    if (*step > 0) continue;
    fail(ErrorKind::kUsage, "profile picture: --step is '{}', not the number of a step, from 1",
         number);
  }
  std::erase_if(words, [](const std::string& word) { return word.starts_with(kStep); });
  const timeline::Trace trace = read_trace(only_file(words, "picture", "--step=NUMBER"));
  fmt::print("{}", timeline::to_svg(trace, step ? *step : timeline::median_step(trace)));
  return 0;
}

void print_summary(const std::filesystem::path& file) {
  const timeline::Trace trace = read_trace(file);
  fmt::print("{}", timeline::to_text(trace, timeline::summary_of(trace)));
}

int run_trace_summary(std::vector<std::string> words) {
  const bool as_json = std::erase(words, "--json") > 0;
  const std::string& file = only_file(words, "summary", "--json");
  if (as_json) {
    fmt::print("{}", timeline::to_json(timeline::summary_of(read_trace(file))));
  } else {
    print_summary(file);
  }
  return 0;
}

}  // namespace tandem::cli
