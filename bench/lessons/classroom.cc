// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/classroom.h"

#include <algorithm>
#include <optional>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/comm/shared_memory/shared_memory.h"

namespace tandem::bench {

namespace {

// The limit of the wait for ranks that run a lesson, longer than any lesson takes, also with
// sanitizers.
constexpr auto kPatience = std::chrono::minutes(10);

int core_of(const Bootstrap& bootstrap, const std::vector<int>& cores) {
  return cores[static_cast<std::size_t>(bootstrap.rank()) % cores.size()];
}

// An outcome starts with digits of the time and of the kind, before the message: outcomes sort by
// time.
constexpr std::size_t kTimeDigits = 20;

std::string outcome_now(const Error& error) {
  return fmt::format("{:0{}}{}{}", Nanoseconds(Clock::now().time_since_epoch()).count(),
                     kTimeDigits, static_cast<int>(error.kind()), error.what());
}

// Throws the error of the rank that failed first, which has the reason, as other ranks failed of
// the first rank's abort. Empty outcomes are no failure.
void throw_earliest(std::vector<std::string> outcomes) {
  std::sort(outcomes.begin(), outcomes.end());
  for (const std::string& outcome : outcomes) {
    if (outcome.empty()) continue;
    throw Error(static_cast<ErrorKind>(outcome[kTimeDigits] - '0'),
                outcome.substr(kTimeDigits + 1));
  }
}

}  // namespace

Classroom::Classroom(Bootstrap& bootstrap)
    : bootstrap_(bootstrap),
      cores_(host::allowed_cores()),
      binding_(core_of(bootstrap, cores_)),
      platform_(devices(1)),
      meeting_(make_shared_memory_communicator(bootstrap, platform_->device(0),
                                               {.deadline = kPatience})) {}

std::unique_ptr<Platform> Classroom::devices(int count, const HostDebug& debug) const {
  PlatformOptions options;
  options.devices = count;
  options.oversubscribe = count > cores();
  options.cores = cores_;
  options.debug = debug;
  return make_platform(BackendChoice::kHost, options);
}

LessonFinding Classroom::together(const std::function<LessonFinding(Job&)>& body) {
  JobOptions options;
  options.devices = ranks();
  options.launch = Launch::kProcesses;
  options.backend = BackendChoice::kHost;
  std::optional<Job> job;
  LessonFinding finding;
  const auto error = capture_error([&] {
    job.emplace(open_job(bootstrap_, options));
    finding = body(*job);
  });
  const std::string outcome = error ? outcome_now(*error) : "";
  if (error && job) job->communicator->abort();
  throw_earliest(bootstrap_.all_gather(outcome));
  return finding;
}

}  // namespace tandem::bench
