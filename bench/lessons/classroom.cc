// SPDX-License-Identifier: Apache-2.0
#include "bench/lessons/classroom.h"

#include "common/base/capture_error.h"
#include "common/comm/shared_memory.h"

namespace tandem::bench {
namespace {

// Of the wait for ranks that run a lesson: none takes that long, also with sanitizers.
constexpr auto kPatience = std::chrono::minutes(10);

int core_of(const Bootstrap& bootstrap, const std::vector<int>& cores) {
  return cores[static_cast<std::size_t>(bootstrap.rank()) % cores.size()];
}

}  // namespace

Classroom::Classroom(Bootstrap& bootstrap)
    : bootstrap_(bootstrap),
      cores_(host::allowed_cores()),
      binding_(core_of(bootstrap, cores_)),
      platform_(devices(1)),
      meeting_(make_shared_memory_communicator(bootstrap, platform_->device(0), kPatience)) {}

std::unique_ptr<Platform> Classroom::devices(int count, const HostDebug& debug) const {
  PlatformOptions options;
  options.devices = count;
  options.oversubscribe = count > cores();
  options.cores = cores_;
  options.debug = debug;
  return make_platform(BackendChoice::kHost, options);
}

Finding Classroom::together(const std::function<Finding(Place&)>& body) {
  PlaceOptions options;
  options.devices = ranks();
  options.launch = Launch::kProcesses;
  options.backend = BackendChoice::kHost;
  Place place = open_place(bootstrap_, options);
  Finding finding;
  const auto error = capture_error([&] { finding = body(place); });
  if (!error) return finding;
  place.communicator->abort();
  throw Error(*error);
}

}  // namespace tandem::bench
