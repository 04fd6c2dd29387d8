// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <new>

namespace tandem::cuda {

// Makes a GPU the calling thread's current one, for good.
void bind_thread(int gpu);

// Makes a GPU current for a scope. A thread that was bound gets its GPU back; one that never was
// keeps the new one, because going back to CUDA's default, GPU 0, would make a context there that
// costs each process hundreds of megabytes.
class DeviceGuard {
 public:
  explicit DeviceGuard(int gpu);
  DeviceGuard(int gpu, std::nothrow_t) noexcept;  // for destructors: says so where it fails
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;
  ~DeviceGuard();

 private:
  static constexpr int kNothing = -1;
  int restore_ = kNothing;
};

}  // namespace tandem::cuda
