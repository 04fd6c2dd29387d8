// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "common/base/clock.h"

namespace tandem::bench {

// Flags about how a job ends that cannot go on: the same for every program of several ranks.
struct FailureFlags {
  std::string comm_timeout = "60s";
  std::string flight_dir;
};

void declare_failure(CLI::App& app, FailureFlags& flags);

// Of --comm-timeout; a usage error where no rank could be that punctual.
[[nodiscard]] Nanoseconds deadline_of(const FailureFlags& flags);

}  // namespace tandem::bench
