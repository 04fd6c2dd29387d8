// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/doctor/finding.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace tandem::doctor {
namespace {

const char* name_of(Level level) {
  switch (level) {
    case Level::kOk:
      return "ok";
    case Level::kWarning:
      return "warning";
    case Level::kProblem:
      return "problem";
    case Level::kNotChecked:
      return "not checked";
  }
  return "";
}

long count(const Findings& findings, Level level) {
  return std::ranges::count(findings, level, &Finding::level);
}

std::string counted(long number, const char* noun) {
  return fmt::format("{} {}{}", number, noun, number == 1 ? "" : "s");
}

}  // namespace

std::string to_text(const Findings& findings) {
  std::string text;
  for (const Finding& finding : findings) {
    text += fmt::format("{:<11}  {}: {}\n", name_of(finding.level), finding.subject, finding.what);
    if (!finding.advice.empty()) text += fmt::format("{:<11}  -> {}\n", "", finding.advice);
  }
  return text + fmt::format("\n{}, {}, {} ok, {} not checked\n",
                            counted(count(findings, Level::kProblem), "problem"),
                            counted(count(findings, Level::kWarning), "warning"),
                            count(findings, Level::kOk), count(findings, Level::kNotChecked));
}

std::string to_json(const Findings& findings) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"subject", finding.subject},
                    {"level", name_of(finding.level)},
                    {"what", finding.what},
                    {"advice", finding.advice}});
  }
  const nlohmann::ordered_json document{{"findings", list},
                                        {"ok", count(findings, Level::kOk)},
                                        {"warnings", count(findings, Level::kWarning)},
                                        {"problems", count(findings, Level::kProblem)},
                                        {"not_checked", count(findings, Level::kNotChecked)}};
  // A program's output may be cut within a character, so invalid UTF-8 is replaced.
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

int exit_code(const Findings& findings) { return count(findings, Level::kProblem) > 0 ? 1 : 0; }

}  // namespace tandem::doctor
