// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>

#include "common/base/error.h"
#include "common/base/units.h"
#include "common/runtime/cuda/check.h"
#include "common/runtime/platform.h"

namespace tandem::cuda {

// "00000000:3B:00.0 GPU-5f0e...": the same in every process, whatever it numbers its GPUs.
[[nodiscard]] std::string identity_of(int ordinal);

// Makes the GPU's context, whose waits are of this kind unless the context was there before.
[[nodiscard]] cudaError_t init_device(int ordinal, GpuWait wait);

// One physical GPU and this process's context on it. Several logical devices may share it. Knows
// whether the context is lost: such an error is for good and for all streams of the GPU. Work
// enqueued after it is dropped, and each wait throws the first error again. Thread-safe.
class Gpu {
 public:
  // Makes the context, and loads all kernels of the module's own.
  Gpu(int ordinal, GpuWait wait);

  [[nodiscard]] int ordinal() const { return ordinal_; }
  [[nodiscard]] const std::string& name() const { return facts_.name; }  // "NVIDIA H200"
  [[nodiscard]] int multiprocessor_count() const { return facts_.multiprocessors; }
  [[nodiscard]] const std::string& hardware() const { return facts_.hardware; }  // see identity_of
  [[nodiscard]] int compute_capability() const { return facts_.capability; }     // 90 is 9.0
  [[nodiscard]] Bytes free_memory() const;

  // For what enqueues: an error that loses the context is kept for the next wait; any other throws.
  void after_enqueue(cudaError_t status, const char* call);

  // For what waits or asks: throws, and keeps an error that loses the context.
  void after_wait(cudaError_t status, const char* call);

  // For a library's call that failed: where it lost the context, that is kept for the next wait;
  // else throws `error`.
  void after_library(const Error& error);

  // The answer of a query; throws as after_wait() does.
  [[nodiscard]] bool is_done(cudaError_t answer, const char* call);

  // From now on as if the context were lost, with this reason: what runs on the GPU cannot be
  // trusted any more. The first one counts.
  void give_up(const Error& reason);

  [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_acquire); }
  void throw_if_failed() const;

  // Done on return; runs on a stream of the GPU's own, because the null stream is nobody's.
  void zero_now(void* data, Bytes size);

 private:
  struct Facts {
    std::string name;
    std::string hardware;
    int multiprocessors = 0;
    int capability = 0;
  };
  [[nodiscard]] static Facts facts_of(int ordinal);

  const int ordinal_;
  const Facts facts_;
  UniqueStream setup_;
  std::atomic<bool> failed_{false};
  mutable std::mutex mutex_;  // guards failure_
  std::optional<Error> failure_;
};

}  // namespace tandem::cuda
