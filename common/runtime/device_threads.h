// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/noncopyable.hpp>
#include <functional>
#include <memory>
#include <vector>

#include "common/runtime/device.h"

namespace tandem {

enum class ThreadLife {
  kOneRun,  // new threads in each run, joined at its end
  kKept,    // kept between runs and parked, like torch's autograd threads
};

// A host thread per device, bound to the device. Platform::make_threads makes them.
class DeviceThreads : boost::noncopyable {
 public:
  virtual ~DeviceThreads() = default;

  // Runs body(i) on device i's thread, all at the same time, and returns when all have ended. Then
  // throws the failure with the lowest index, if any, as torch's parallel_apply. One caller at a
  // time.
  virtual void run(const std::function<void(int)>& body) = 0;
};

// Threads of this process. `devices` outlive the threads.
[[nodiscard]] std::unique_ptr<DeviceThreads> start_device_threads(
    const std::vector<Device*>& devices, ThreadLife life);

}  // namespace tandem
