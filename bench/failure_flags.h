// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/base/clock.h"
#include "common/comm/communicator.h"

namespace CLI {
class App;
}  // namespace CLI

namespace tandem::bench {

// Flags about how a job ends that cannot go on: the same for every program of several ranks.
struct FailureFlags {
  std::string comm_timeout = "60s";
  std::string flight_dir;
};

void declare_failure(CLI::App& app, FailureFlags& flags);

// --comm-timeout is when every rank has ended: from it come a rank's patience with others, and the
// grace in which ranks that gave up leave each other time to say so.
struct Patience {
  Nanoseconds deadline = std::chrono::seconds(60);  // for another rank to come
  Nanoseconds grace{0};
};

// A usage error where no rank could be that punctual.
[[nodiscard]] Patience patience_of(const FailureFlags& flags);

// The first of it, for those who end nothing.
[[nodiscard]] inline Nanoseconds deadline_of(const FailureFlags& flags) {
  return patience_of(flags).deadline;
}

void set_patience(const FailureFlags& flags, CommunicatorOptions& options);

}  // namespace tandem::bench
