// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "bench/job/job.h"
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
  options.rank_exit.grace = grace;
}

}  // namespace

void give_devices_started(options::Values& values) {
  if (values.is_given("devices") || options::launch(values) != Launch::kProcesses) return;
  values.give("devices", std::to_string(announced_ranks()));
}

JobOptions job_options(const options::Values& values) {
  JobOptions job;
  job.devices = values.count("devices");
  job.launch = options::launch(values);
  job.backend = values.pick("backend", {BackendChoice::kAuto, BackendChoice::kHost,
                                        BackendChoice::kCuda, BackendChoice::kSimulated});
  job.platform.hardware = values.text("hardware");
  job.platform.oversubscribe = values.is_on("oversubscribe");
  job.platform.device_memory = values.sizes("device-memory");
  job.platform.gpus = values.devices("gpus");
  job.platform.peer_access = values.pick("p2p", {PeerAccess::kOff, PeerAccess::kOn});
  job.platform.gpu_wait = values.pick("gpu-wait", {GpuWait::kAuto, GpuWait::kPark});
  job.platform.binding = values.pick("bind", {Binding::kNear, Binding::kNone});
  job.transport = values.pick(
      "comm", {Transport::kAuto, Transport::kSharedMemory, Transport::kMpi, Transport::kNccl});
  if (values.is_on("check-order")) job.communicator.check_order = OrderCheck::kAlways;
  set_patience(values.duration("comm-timeout"), job.communicator);
  return job;
}

}  // namespace tandem::bench
