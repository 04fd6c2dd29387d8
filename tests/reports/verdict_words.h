// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "reports/answer/verdict.h"

namespace tandem::reports {

// All sentences of the verdict, a line each; a note's begins with "  ! ".
inline std::string to_text(const VerdictText& verdict) {
  std::string text = verdict.subject + ".\n" + verdict.overall + "\n" + verdict.slower + "\n";
  for (const std::string& line : verdict.breaks) text += "  - " + line + "\n";
  for (const std::string& line : verdict.workloads) text += "  - " + line + "\n";
  for (const std::string& line : verdict.notes) text += "  ! " + line + "\n";
  return text;
}

}  // namespace tandem::reports
