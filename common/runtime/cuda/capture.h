// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <optional>
#include <string>

#include "common/base/error.h"
#include "common/runtime/cuda/gpu.h"
#include "common/runtime/span.h"
#include "common/runtime/stream.h"

namespace tandem::cuda {

// A captured graph, ready to be launched. Kernels keep the priorities of the streams that they were
// captured on.
class CudaGraph final : public StreamGraph {
 public:
  // Takes `graph`, of streams of `device`, also where it throws.
  CudaGraph(Gpu& gpu, DeviceId device, cudaGraph_t graph);
  ~CudaGraph() override;

  void replay(Stream& stream) override;

 private:
  Gpu& gpu_;
  const DeviceId device_;
  cudaGraphExec_t executable_ = nullptr;
};

// The capture of a stream by this thread, of which there is one at a time. CUDA only tells that a
// capture was spoiled, and often at a later call: here the first call after which it was is noted.
//
// Thread-local: what other threads do meanwhile - a communicator's watching thread asks for events,
// NCCL's own launch what was given to them - is nobody's concern.
class Capture {
 public:
  Capture(cudaStream_t origin, int gpu);  // begins
  ~Capture();                             // ends what was not ended; throws the graph away
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  // What was captured; null where it was spoiled or is not whole, for the reason of trouble().
  [[nodiscard]] cudaGraph_t end();

  // Why there is no graph, as one line; absent where all is well. `thrown`: what the caller met.
  [[nodiscard]] std::optional<Error> trouble(const std::optional<Error>& thrown) const;

  // To be called after each call of CUDA's, or of a library's that calls it.
  static void look_after(const char* call) noexcept;

  // Whether this thread captures and `stream` is part of it.
  [[nodiscard]] static bool holds(cudaStream_t stream);

 private:
  [[nodiscard]] bool is_spoiled() const noexcept;

  const cudaStream_t origin_;
  const int gpu_;
  bool is_open_ = true;
  cudaError_t ended_ = cudaSuccess;
  std::optional<std::string> spoiler_;  // the call
};

}  // namespace tandem::cuda
