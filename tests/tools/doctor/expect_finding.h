// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tools/tandem/doctor/finding.h"

namespace tandem::doctor {

// Holds where one of the findings is of that subject and level, and says `part`; a warning or a
// problem must also say what to do.
[[nodiscard]] inline testing::AssertionResult finds(const Findings& findings, Level level,
                                                    const std::string& subject,
                                                    const std::string& part) {
  const bool found = std::ranges::any_of(findings, [&](const Finding& finding) {
    const bool needs_advice = level == Level::kWarning || level == Level::kProblem;
    return finding.level == level && finding.subject == subject &&
           finding.what.find(part) != std::string::npos &&
           (!needs_advice || !finding.advice.empty());
  });
  if (found) return testing::AssertionSuccess();
  return testing::AssertionFailure() << "no such finding in:\n" << to_text(findings, {});
}

}  // namespace tandem::doctor
