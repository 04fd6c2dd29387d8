// SPDX-License-Identifier: Apache-2.0
//
// The findings of `tandem doctor`. Each subject has facts, gathered by one function (from the files
// below a root folder, or from a program that was run), and rules: a pure function from facts to
// findings.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "reports/render/formats.h"

namespace tandem::doctor {

enum class Level {
  kOk,
  kWarning,  // figures hold, but the machine is not at its best, or not complete
  kProblem,  // figures would be wrong, or a part of Tandem does not work here
  kNotChecked
};

struct Finding {
  std::string subject;  // "cores"
  Level level = Level::kOk;
  std::string what;    // one line; the reason where the level is kNotChecked
  std::string advice;  // the user's next action, one line; empty where there is none

  bool operator==(const Finding&) const = default;
};

using Findings = std::vector<Finding>;

[[nodiscard]] inline Finding ok(std::string subject, std::string what) {
  return {std::move(subject), Level::kOk, std::move(what), ""};
}
[[nodiscard]] inline Finding warning(std::string subject, std::string what, std::string advice) {
  return {std::move(subject), Level::kWarning, std::move(what), std::move(advice)};
}
[[nodiscard]] inline Finding problem(std::string subject, std::string what, std::string advice) {
  return {std::move(subject), Level::kProblem, std::move(what), std::move(advice)};
}
[[nodiscard]] inline Finding not_checked(std::string subject, std::string why) {
  return {std::move(subject), Level::kNotChecked, std::move(why), ""};
}

// The text for people: the count of each level, then problems and warnings with their advice, and
// with details the other findings.
[[nodiscard]] std::string to_text(const Findings& findings, const reports::Screen& screen);

// {"findings": [{"subject", "level", "what", "advice"}...], "ok", "warnings", "problems",
// "not_checked"}; levels are "ok", "warning", "problem" and "not checked".
[[nodiscard]] std::string to_json(const Findings& findings);

// 3 where there is a problem, else 0.
[[nodiscard]] int exit_code(const Findings& findings);

}  // namespace tandem::doctor
