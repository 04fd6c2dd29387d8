// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "common/base/clock.h"
#include "common/comm/communicator.h"

namespace CLI {
class App;
}  // namespace CLI

namespace tandem::bench {

// Flags about how a job ends that cannot go on; the flags are the same for every program of several
// ranks.
struct FailureFlags {
  std::string comm_timeout = "60s";
  std::string flight_dir;
};

void declare_failure(CLI::App& app, FailureFlags& flags);

// The two waits that --comm-timeout is divided into, so that every rank has ended by then: a rank's
// patience with other ranks, and the grace in which ranks that gave up leave each other time to say
// so.
struct Patience {
  Nanoseconds deadline = std::chrono::seconds(60);  // how long a rank waits for another rank
  Nanoseconds grace{0};
};

// Throws a usage error where no rank could be that punctual.
[[nodiscard]] Patience patience_of(const FailureFlags& flags);

// The deadline alone, for callers that end no rank.
[[nodiscard]] inline Nanoseconds deadline_of(const FailureFlags& flags) {
  return patience_of(flags).deadline;
}

void set_patience(const FailureFlags& flags, CommunicatorOptions& options);

}  // namespace tandem::bench
