// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

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

}  // namespace tandem::cuda
