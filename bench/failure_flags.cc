// SPDX-License-Identifier: Apache-2.0
#include "bench/failure_flags.h"

#include "common/base/error.h"
#include "common/base/units.h"

namespace tandem::bench {

void declare_failure(CLI::App& app, FailureFlags& flags) {
  app.add_option("--comm-timeout", flags.comm_timeout,
                 "give up on a rank that is late by this time, and end the job")
      ->capture_default_str();
  app.add_option("--flight-dir", flags.flight_dir,
                 "folder in which each rank keeps its step, phase and collective in a mapped file, "
                 "rank.N: what is left of it once it is killed (default: none)");
}

Nanoseconds deadline_of(const FailureFlags& flags) {
  const Nanoseconds deadline = parse_duration(flags.comm_timeout, "--comm-timeout");
  if (deadline >= std::chrono::milliseconds(1)) return deadline;
  fail(ErrorKind::kUsage, "--comm-timeout={}: no rank is that punctual: use 1ms or more",
       flags.comm_timeout);
}

}  // namespace tandem::bench
