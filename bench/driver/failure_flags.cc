// SPDX-License-Identifier: Apache-2.0
#include "bench/driver/failure_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "common/base/error.h"
#include "common/base/units.h"

namespace tandem::bench {
namespace {

constexpr Nanoseconds kLongestGrace = std::chrono::seconds(2);
constexpr int kGracePerTimeout = 8;

}  // namespace

void declare_failure(CLI::App& app, FailureFlags& flags) {
  app.add_option(
         "--comm-timeout", flags.comm_timeout,
         "in a run, until every rank of a job has ended that one cannot go on: each gives up on a "
         "late one a little earlier")
      ->capture_default_str();
  app.add_option("--flight-dir", flags.flight_dir,
                 "folder in which each rank keeps its step, phase and collective in a mapped file, "
                 "rank.N: what is left of it once it is killed (default: none)");
}

// Two graces: one for the rank itself, one for everything that is late by a little, such as a
// watchdog's look and the end of a job.
Patience patience_of(const FailureFlags& flags) {
  const Nanoseconds timeout = parse_duration(flags.comm_timeout, "--comm-timeout");
  if (timeout < std::chrono::milliseconds(1)) {
    fail(ErrorKind::kUsage, "--comm-timeout={}: no rank is that punctual: use 1ms or more",
         flags.comm_timeout);
  }
  const Nanoseconds grace = std::min(kLongestGrace, timeout / kGracePerTimeout);
  return {.deadline = timeout - 2 * grace, .grace = grace};
}

void set_patience(const FailureFlags& flags, CommunicatorOptions& options) {
  const Patience patience = patience_of(flags);
  options.deadline = patience.deadline;
  options.farewell.grace = patience.grace;
}

}  // namespace tandem::bench
