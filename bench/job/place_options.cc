// SPDX-License-Identifier: Apache-2.0
#include "bench/job/place_options.h"

#include <algorithm>

#include "common/options/rules.h"

namespace tandem::bench {
namespace {

// Two graces: one for the rank itself, one for everything that is late by a little, such as a
// watchdog's look and the end of a job.
void set_patience(Nanoseconds timeout, CommunicatorOptions& options) {
  constexpr Nanoseconds kLongestGrace = std::chrono::seconds(2);
  constexpr int kGracePerTimeout = 8;
  const Nanoseconds grace = std::min(kLongestGrace, timeout / kGracePerTimeout);
  options.deadline = timeout - 2 * grace;
  options.farewell.grace = grace;
}

}  // namespace

PlaceOptions place_options(const options::Values& values) {
  PlaceOptions place;
  place.devices = values.count("devices");
  place.launch = options::launch(values);
  place.backend =
      values.pick("backend", {BackendChoice::kAuto, BackendChoice::kHost, BackendChoice::kCuda});
  place.oversubscribe = values.is_on("oversubscribe");
  place.device_memory = values.sizes("device-memory");
  place.gpus = values.devices("gpus");
  place.peer_access = values.pick("p2p", {PeerAccess::kOff, PeerAccess::kOn});
  place.binding = values.pick("bind", {Binding::kNear, Binding::kNone});
  if (values.is_given("link")) place.link = parse_link(values.text("link"));
  place.core_gflops = values.speed("core-gflops");
  place.transport = values.pick("comm", {Transport::kAuto, Transport::kSharedMemory,
                                         Transport::kMpi, Transport::kGloo, Transport::kNccl});
  if (values.is_on("check-order")) place.communicator.check_order = OrderCheck::kAlways;
  set_patience(values.duration("comm-timeout"), place.communicator);
  return place;
}

}  // namespace tandem::bench
