// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/doctor/finding.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/error.h"
#include "common/base/lines.h"
#include "common/base/text.h"
#include "common/json/writer.h"

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

}  // namespace

std::string to_text(const Findings& findings, const reports::Screen& screen) {
  std::string text =
      to_lines(fmt::format("{}, {}, {} ok, {} not checked{}",
                           count_text(count(findings, Level::kProblem), "problem"),
                           count_text(count(findings, Level::kWarning), "warning"),
                           count(findings, Level::kOk), count(findings, Level::kNotChecked),
                           screen.has_details ? "" : "; --details has all"),
               screen.columns);
  for (const Finding& finding : findings) {
    const bool is_bad = finding.level == Level::kProblem || finding.level == Level::kWarning;
    if (!is_bad && !screen.has_details) continue;
    text += to_lines(fmt::format("{}: {}", finding.subject, finding.what), screen.columns,
                     fmt::format("{:<11}  ", name_of(finding.level)));
    if (finding.advice.empty()) continue;
    text += to_lines(finding.advice, screen.columns, fmt::format("{:<11}  -> ", ""));
  }
  return text;
}

std::string to_json(const Findings& findings) {
  std::string text;
  JsonWriter writer(text, 2);
  writer.open("", '{');
  writer.open("findings", '[');
  for (const Finding& finding : findings) {
    writer.open("", '{');
    writer.value("subject", finding.subject);
    writer.value("level", name_of(finding.level));
    writer.value("what", finding.what);
    writer.value("advice", finding.advice);
    writer.close();
  }
  writer.close();
  writer.value("ok", count(findings, Level::kOk));
  writer.value("warnings", count(findings, Level::kWarning));
  writer.value("problems", count(findings, Level::kProblem));
  writer.value("not_checked", count(findings, Level::kNotChecked));
  writer.close();
  writer.finish();
  return text;
}

int exit_code(const Findings& findings) {
  return count(findings, Level::kProblem) > 0 ? kVerdictExit : 0;
}

}  // namespace tandem::doctor
