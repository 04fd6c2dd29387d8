// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "common/runtime/device.h"

namespace tandem {

// Runs body(i) on a new thread per device, bound to the device, and joins all threads; nothing is
// kept. Then throws the failure with the lowest index, if any, as torch's parallel_apply.
void run_on_new_threads(const std::vector<Device*>& devices, const std::function<void(int)>& body);

// A thread per device, bound to the device, kept between calls and parked, like torch's autograd
// threads.
class DeviceThreads {
 public:
  explicit DeviceThreads(const std::vector<Device*>& devices);
  ~DeviceThreads();
  DeviceThreads(const DeviceThreads&) = delete;
  DeviceThreads& operator=(const DeviceThreads&) = delete;

  // Runs body(i) on each thread and returns when all have ended; failures as above. One caller at a
  // time.
  void run(const std::function<void(int)>& body);

 private:
  class Shared;
  const std::unique_ptr<Shared> shared_;
};

}  // namespace tandem
