// SPDX-License-Identifier: Apache-2.0
//
// The result of a CUDA call, as an error of ours. Every call goes through one of these.
#pragma once

#include <cuda_runtime_api.h>

#include <boost/noncopyable.hpp>
#include <new>
#include <string>

#include "common/base/error.h"
#include "common/runtime/stream.h"

namespace tandem::cuda {

// Owners of raw CUDA handles; the borrowed forms are cudaStream_t and cudaEvent_t themselves.

// A stream that does not synchronise with CUDA's null stream. Destruction waits for queued work:
// cudaStreamDestroy alone would return before it is done.
class UniqueStream : boost::noncopyable {
 public:
  UniqueStream(int gpu, StreamPriority priority);
  ~UniqueStream();

  [[nodiscard]] cudaStream_t get() const { return stream_; }

 private:
  const int gpu_;
  cudaStream_t stream_ = nullptr;
};

enum class EventTiming { kOff, kOn };

class UniqueEvent : boost::noncopyable {
 public:
  UniqueEvent(int gpu, EventTiming timing);
  ~UniqueEvent();

  [[nodiscard]] cudaEvent_t get() const { return event_; }

 private:
  const int gpu_;
  cudaEvent_t event_ = nullptr;
};

// True for errors after which the GPU's context in this process is lost for good: every later call
// on it returns the same error.
[[nodiscard]] bool is_sticky(cudaError_t status);

// "cudaFree(data) on GPU 1: cudaErrorInvalidValue (invalid argument)".
[[nodiscard]] std::string describe(cudaError_t status, const char* call, int gpu);

// Throws where `status` is an error, and clears CUDA's note of it, so that no later call is blamed.
void check(cudaError_t status, const char* call, int gpu);

// For destructors: says so once on stderr, silent where the runtime is already shutting down.
void warn(cudaError_t status, const char* call, int gpu) noexcept;

// Makes a GPU the calling thread's current one, for good.
void bind_thread(int gpu);

// Makes a GPU current for a scope. A thread that was bound gets its GPU back; one that never was
// keeps the new one, because going back to CUDA's default, GPU 0, would make a context there that
// costs each process hundreds of megabytes.
class DeviceGuard : boost::noncopyable {
 public:
  explicit DeviceGuard(int gpu);
  DeviceGuard(int gpu, std::nothrow_t) noexcept;  // for destructors: says so where it fails
  ~DeviceGuard();

 private:
  static constexpr int kNothing = -1;
  int restore_ = kNothing;
};

}  // namespace tandem::cuda

// TANDEM_CUDA(gpu, cudaSetDevice(gpu)) throws; TANDEM_CUDA_NOTHROW is the form for destructors.
#define TANDEM_CUDA(gpu, call) ::tandem::cuda::check((call), #call, (gpu))
#define TANDEM_CUDA_NOTHROW(gpu, call) ::tandem::cuda::warn((call), #call, (gpu))
