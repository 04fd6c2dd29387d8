// SPDX-License-Identifier: Apache-2.0
#include "tools/tandem/process/child_reason.h"

#include <fmt/format.h>

#include <cstring>

#include "tools/tandem/process/signal_name.h"
#include "tools/tandem/process/stderr_reason.h"

namespace tandem::cli {

std::string reason_of(const ChildResult& result, std::string_view name,
                      std::chrono::seconds deadline) {
  switch (result.end) {
    case ChildResult::End::kExited: {
      const std::string said = reason_in(result.stderr_text);
      if (!said.empty()) return said;
      return fmt::format("{} ended with status {} and said nothing", name, result.code);
    }
    case ChildResult::End::kSignalled:
      return fmt::format("{} was ended by {}", name, signal_name(result.code));
    case ChildResult::End::kTimedOut:
      return fmt::format("{} did not end within {} s", name, deadline.count());
    case ChildResult::End::kNotStarted:
      return fmt::format("{} cannot be started: {}", name, std::strerror(result.code));
    case ChildResult::End::kInterrupted:
      break;
  }
  return fmt::format("{} was interrupted", name);
}

}  // namespace tandem::cli
