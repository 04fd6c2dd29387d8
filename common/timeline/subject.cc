// SPDX-License-Identifier: Apache-2.0
#include "common/timeline/subject.h"

#include <fmt/format.h>

namespace tandem::timeline {

std::string fact(const Trace& trace, const std::string& name) {
  const auto found = trace.facts.find(name);
  return found == trace.facts.end() ? "?" : found->second;
}

std::string subject_of(const Trace& trace) {
  return fmt::format("{} as {}, {} on {} devices ({}), global batch {}", fact(trace, "strategy"),
                     fact(trace, "launch"), fact(trace, "model"), fact(trace, "devices"),
                     fact(trace, "backend"), fact(trace, "batch"));
}

}  // namespace tandem::timeline
