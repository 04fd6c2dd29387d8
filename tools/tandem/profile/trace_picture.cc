// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/profile/trace_picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "common/base/error.h"
#include "common/timeline/picture.h"
#include "tools/tandem/profile/trace_summary.h"

namespace tandem::cli {
namespace {

constexpr std::string_view kStep = "--step=";

int number_in(std::string_view word) {
  const std::string_view digits = word.substr(kStep.size());
  int number = 0;
  const auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error == std::errc{} && rest == digits.data() + digits.size() && number > 0) return number;
  fail(ErrorKind::kUsage, "profile picture: --step is '{}', not the number of a step, from 1",
       digits);
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

}  // namespace tandem::cli
