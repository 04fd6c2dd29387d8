// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>

#include "common/kernels/cuda/cudnn_plan.h"
#include "common/runtime/cuda/gpu.h"

namespace tandem::cuda {

// cuDNN on one GPU: the library's handle, and what its errors come to. Used from one thread at a
// time.
class CudnnSession {
 public:
  // A failure where the library cannot start on this GPU. `api` outlives the session.
  CudnnSession(Gpu& gpu, const CudnnApi& api);
  CudnnSession(const CudnnSession&) = delete;
  CudnnSession& operator=(const CudnnSession&) = delete;
  // Gives back resources of its GPU, which it waits for.
  ~CudnnSession();

  [[nodiscard]] const CudnnApi& api() const { return api_; }
  [[nodiscard]] cudnnHandle_t handle() const { return handle_; }

  // Enqueues a plan on `stream`, of this GPU, which is current. An error that loses the GPU is kept
  // for the stream's next wait, any other is a failure that names what() is done.
  template <class What>
  void enqueue(cudaStream_t stream, const CudnnPlan& plan, std::span<const CudnnOperand> operands,
               void* workspace, const What& what) {
    try {
      execute(api_, handle_, stream, plan, operands, workspace);
    } catch (const CudnnError& error) {
      give_up(error, what());
    }
  }

 private:
  void give_up(const CudnnError& error, const std::string& what);

  Gpu& gpu_;
  const CudnnApi& api_;
  cudnnHandle_t handle_ = nullptr;
};

}  // namespace tandem::cuda
